"""Every training recipe side by side: from one base, with one allowance of sampled tokens, measured on one grid."""
