import { messageOf } from '../core/error.ts'
import { UsageError } from './command.ts'

/** Maximum time that a request may take. */
const TIMEOUT_MS = 60_000
const PAGE_SIZE = 200

/** An error that the server returned. */
class RefusedCall extends UsageError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message)
  }
}

/** Calls the API of a server with an API key, for commands that run on another machine. */
export class ServerClient {
  private readonly base: string

  /** @param url URL of the server; throws `UsageError` when it is not a web address */
  constructor(
    private readonly command: string,
    url: string,
    private readonly key: string,
  ) {
    const parsed = URL.parse(url)
    if (!parsed || !/^https?:$/.test(parsed.protocol)) {
      throw new UsageError(`${command}: --url must be a web address, such as https://tags.example.com`)
    }
    this.base = `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  }

  /** Returns the URL of a page of the dashboard. */
  pageUrl(path: string): string {
    return `${this.base}${path}`
  }

  get<T>(path: string): Promise<T> {
    return this.call('GET', path) as Promise<T>
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.call('POST', path, body) as Promise<T>
  }

  /** Returns all items of a list. `noun`: the field that contains them. */
  async list<T>(path: string, noun: string): Promise<T[]> {
    const items: T[] = []
    let cursor: string | null = null
    do {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor === null ? {} : { cursor }) })
      const page: Record<string, unknown> = await this.get(`${path}?${query}`)
      items.push(...((page[noun] ?? []) as T[]))
      cursor = typeof page.nextCursor === 'string' ? page.nextCursor : null
    } while (cursor !== null)
    return items
  }

  /** Rejects with `UsageError` when the server can't be reached, and with `RefusedCall` when it returns an error. */
  private async call(method: string, path: string, body?: unknown): Promise<unknown> {
    let response: Response
    let text: string
    try {
      response = await fetch(`${this.base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      text = await response.text()
    } catch (error) {
      throw new UsageError(`${this.command}: ${this.base} can't be reached: ${messageOf(error)}`)
    }
    const answer = jsonIn(text)
    if (response.ok && answer !== undefined) return answer
    const reason = (answer as { error?: unknown } | undefined)?.error
    const words = typeof reason === 'string' ? reason : 'is this the URL of a Tagwarden server?'
    throw new RefusedCall(
      `${this.command}: ${method} ${path.split('?')[0]}: ${response.status}: ${words}`,
      response.status,
    )
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
