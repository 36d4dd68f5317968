import { until } from '../run-program.ts'

/** A server-sent event. */
export interface SentEvent {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  data: any
}

/** An event stream that is read in the background. */
export interface StreamSubscription {
  /** Events received so far. */
  readonly events: readonly SentEvent[]
  /** Events received so far, without pulses. */
  readonly changes: readonly SentEvent[]
  readonly isEnded: boolean
  /** Waits until `isThere` returns true for the changes, and returns them. The timeout error mentions `what`. */
  changesWhen(what: string, isThere: (changes: readonly SentEvent[]) => boolean): Promise<readonly SentEvent[]>
  ended(): Promise<void>
  leave(): Promise<void>
}

/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function readEventStream(response: Response): StreamSubscription {
  if (!response.body) throw new Error(`no event stream: ${response.status}`)
  const reader = response.body.getReader()
  const events: SentEvent[] = []
  const changes = () => events.filter(({ event }) => event !== 'pulse')
  let isEnded = false
  const read = async () => {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const frames = (text + decoder.decode(value, { stream: true })).split('\n\n')
      text = frames.pop() ?? ''
      events.push(...frames.flatMap(eventOf))
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      isEnded = true
    })
  return {
    events,
    get changes() {
      return changes()
    },
    get isEnded() {
      return isEnded
    },
    changesWhen: (what, isThere) => until(what, () => isThere(changes()) && changes()),
    ended: async () => void (await until('the end of the stream', () => isEnded)),
    leave: () => reader.cancel().catch(() => {}),
  }
}

/** Parses a frame. Returns an empty list for a frame without data. */
export function eventOf(frame: string): SentEvent[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? ''
  const data = field('data')
  return data === '' ? [] : [{ id: field('id'), event: field('event'), data: JSON.parse(data) }]
}
