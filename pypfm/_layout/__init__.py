"""Stages of pypfm.layout: readers (mirrors), the model, and what is written of it."""
