/** Notifies subscribers that there is work. It does not say which work, so each subscriber looks it up. */
export class Emitter {
  private readonly listeners: (() => void)[] = []

  subscribe(listener: () => void): void {
    this.listeners.push(listener)
  }

  emit(): void {
    for (const listener of this.listeners) listener()
  }
}
