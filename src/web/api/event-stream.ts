import { type RequestOptions, send } from './request.ts'

/** A server-sent event whose data is JSON. */
export interface StreamEvent {
  /** Its name; null for an event without one, such as a comment that keeps the connection open. */
  event: string | null
  /** The id of this event, or of the most recent one that had an id; null if there is none. */
  id: string | null
  /** Null for an event without data. */
  data: unknown
}

/** Yields the events of one response until it ends. Throws when the request or the connection fails. */
export async function* readEvents(path: string, options: RequestOptions): AsyncGenerator<StreamEvent> {
  const { body } = await send({ method: 'GET', path }, options)
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let id: string | null = null
  let rest = ''
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (rest + part.value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => fieldOf(line)))
        id = fields.get('id') ?? id
        yield { event: fields.get('event') ?? null, id, data: JSON.parse(fields.get('data') ?? 'null') }
      }
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** Returns the name and value of a line such as `event: issue`. */
function fieldOf(line: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = /^(\w*): ?(.*)$/s.exec(line) ?? []
  return [name, value]
}
