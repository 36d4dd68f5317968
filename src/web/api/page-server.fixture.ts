/** A request as the server received it. */
export interface Received {
  method: string
  /** Path and query, as sent. */
  url: string
  headers: Headers
  body: string
}

/** A server, and the globals of a browser that shows one of its pages. Both are removed when disposed. */
export interface PageServer extends Disposable {
  received: Received[]
}

const SESSION = { credential: 'st_1', orgId: 'org_1' }

/** Web storage in memory. */
class MemoryStorage {
  getItem(key: string): string | null {
    return (Reflect.get(this, key) as string | undefined) ?? null
  }
  setItem(key: string, text: string): void {
    Object.assign(this, { [key]: text })
  }
  removeItem(key: string): void {
    Reflect.deleteProperty(this, key)
  }
}

/** Starts a server that answers with `answer`, and opens a session. Load the modules under test afterwards. */
export async function servePages(
  answer: (request: Request, received: Received) => Response | Promise<Response>,
): Promise<PageServer> {
  const received: Received[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { method, headers } = request
      const url = request.url.slice(server.url.origin.length)
      const one = { method, url, headers, body: await request.text() }
      received.push(one)
      return answer(request, one)
    },
  })
  const { origin } = server.url
  const globals = {
    window: new EventTarget(),
    location: { origin },
    localStorage: new MemoryStorage(),
    sessionStorage: new MemoryStorage(),
    // In a browser, paths are relative to the page.
    Request: class extends Request {
      constructor(address: string, init?: RequestInit) {
        super(new URL(address, origin), init)
      }
    },
  }
  const before = Object.fromEntries(Object.keys(globals).map((name) => [name, Reflect.get(globalThis, name)]))
  Object.assign(globalThis, globals)
  const { session } = await import('./session.ts')
  session.open(SESSION)
  return {
    received,
    [Symbol.dispose]() {
      session.close()
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) Reflect.deleteProperty(globalThis, name)
        else Reflect.set(globalThis, name, value)
      }
      void server.stop(true)
    },
  }
}

/** Starts a server that answers with these bytes, and then closes the connection unless `isHeld`. */
export function serveBytes(bytes: string, isHeld = false): Disposable & { url: string } {
  const answer = (socket: Bun.Socket) => void (isHeld ? socket.write(bytes) : socket.end(bytes))
  const server = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data: answer } })
  return { url: `http://127.0.0.1:${server.port}/v1/a`, [Symbol.dispose]: () => server.stop(true) }
}
