"""The budgeted rollout, its TRL adapter, monitors and supervised teaching."""
