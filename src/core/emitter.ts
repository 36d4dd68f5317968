/**
 * Notifies subscribers, in the order in which they subscribed. Without a value, the notification only signals that
 * there is work.
 */
export class Emitter<T = void> {
  private readonly listeners: ((value: T) => void)[] = []

  subscribe(listener: (value: T) => void): void {
    this.listeners.push(listener)
  }

  emit(value: T): void {
    for (const listener of this.listeners) listener(value)
  }
}
