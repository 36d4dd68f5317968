import { MAX_PAGE_SIZE } from '../contract/limits.ts'
import type { Fields } from './shape.ts'

/** A call that the server rejected. */
export class RejectedCall extends Error {
  override readonly name = 'RejectedCall'
  constructor(
    readonly status: number,
    /** The server's `error`, which begins with the name of the field if it is about one. */
    message: string,
  ) {
    super(message)
  }
}

/** Calls the API. Rejects with `RejectedCall`, and with another error when there is no server. */
export type CallApi = (method: string, path: string, body?: unknown) => Promise<Fields>

/** Maximum number of attempts while the server limits the rate of calls. */
const MAX_ATTEMPTS = 10

/** Returns a function that calls the API of a server with an API key. Waits when the server limits the rate of calls. */
export function apiClient(
  { url, key }: { url: string; key: string },
  send: (request: Request) => Promise<Response>,
): CallApi {
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    for (let attempt = 1; ; attempt++) {
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await send(new Request(`${url}${path}`, init))
      const text = await response.text()
      if (response.status === 429 && attempt < MAX_ATTEMPTS) {
        await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
        continue
      }
      const isJson = response.headers.get('content-type')?.includes('json') === true
      const answer = isJson ? JSON.parse(text) : {}
      if (response.ok && isJson) return answer
      throw new RejectedCall(response.status, String(answer.error ?? 'is this the URL of a Tagwarden server?'))
    }
  }
}

/** Returns all items of a list. */
export async function listAll(call: CallApi, path: string, name: string): Promise<Fields[]> {
  const items: Fields[] = []
  let cursor: unknown = null
  do {
    const query = new URLSearchParams({ limit: String(MAX_PAGE_SIZE) })
    if (cursor !== null) query.set('cursor', String(cursor))
    const page = await call('GET', `${path}?${query}`)
    items.push(...(page[name] as Fields[]))
    cursor = page.nextCursor ?? null
  } while (cursor !== null)
  return items
}
