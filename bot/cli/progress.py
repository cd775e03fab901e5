"""The bar that is shown while the models are made ready: their weights, then their prompts."""

from __future__ import annotations

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bot.cli.command import err


class PreparationBar:
    """A bar on standard error for weights that are fetched and prompts that are read; silent off a terminal."""

    def __init__(self) -> None:
        console = err()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[amount]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, amount="")

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of the weights, in bytes, or of the prompts is ready."""
        if not self._bar.live.is_started and done < total:
            self._bar.start()
        is_weights = what == "weights"
        description = "Preparing the language model" if is_weights else "Reading the prompts, kept for the next start"
        amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB" if is_weights else f"{done} of {total}"
        self._bar.update(self._task, completed=done, total=total, description=description, amount=amount)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take it away, where nothing more is told; one that was never shown leaves no empty line behind."""
        if self._bar.live.is_started:
            self._bar.stop()
