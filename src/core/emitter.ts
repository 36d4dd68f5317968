/** Notifies subscribers that there is work, without saying which: each looks it up. */
export class Emitter {
  private readonly listeners: (() => void)[] = []

  subscribe(listener: () => void): void {
    this.listeners.push(listener)
  }

  emit(): void {
    for (const listener of this.listeners) listener()
  }
}
