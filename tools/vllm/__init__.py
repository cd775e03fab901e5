"""Makes what `make test-vllm` needs: an environment with vLLM for a CPU, and a folder with the small model."""
