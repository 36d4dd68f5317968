/** Tells those who listen that there is something to do. What there is they look up themselves. */
export class Bell {
  private readonly listeners: (() => void)[] = []

  listen(listener: () => void): void {
    this.listeners.push(listener)
  }

  ring(): void {
    for (const listener of this.listeners) listener()
  }
}
