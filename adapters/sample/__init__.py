"""A community inside this process: for the first run, for shadow mode and for tests."""

from adapters.sample.community import SampleCommunity
from adapters.sample.posts import SAMPLE_FLAGS, SAMPLE_THREAD, SamplePost

__all__ = ["SAMPLE_FLAGS", "SAMPLE_THREAD", "SampleCommunity", "SamplePost"]
