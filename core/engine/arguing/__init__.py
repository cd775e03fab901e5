"""Stages 2 and 3: what the drafts argue. Must never write a draft, or judge one."""
