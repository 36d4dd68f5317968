import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Headers that belong to a connection, not to a message. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'content-length'])

/** Forwards HTTP requests to a server, and can lose requests and answers. */
export class FaultyProxy {
  /** True while all connections are closed without a request reaching the server. */
  isCut = false
  /** Share of the answers that are lost after the server has done its work. */
  lostShare = 0
  /** Number of answers lost. */
  lost = 0
  private readonly arrived = new Map<string, number>()

  private constructor(
    private readonly server: Server,
    /** Returns the URL of the server. */
    private readonly target: () => string,
    private readonly random: () => number,
    private readonly rewrite: (url: URL) => URL | Response,
  ) {
    server.on('request', (request, response) => void this.relay(request, response))
  }

  /**
   * @param rewrite changes the URL of a request, or returns the answer in place of the server
   */
  static async open(
    target: () => string,
    random: () => number,
    rewrite: (url: URL) => URL | Response = (url) => url,
  ): Promise<FaultyProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new FaultyProxy(server, target, random, rewrite)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Returns the number of requests to a path that have arrived. */
  requestsTo(path: string): number {
    return this.arrived.get(path) ?? 0
  }

  private async relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', this.target())
      this.arrived.set(url.pathname, this.requestsTo(url.pathname) + 1)
      const body = await buffer(request)
      if (this.isCut) throw new Error('cut off')
      const isLost = this.random() < this.lostShare
      const answer = await this.answerOf(request, this.rewrite(url), body)
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (isLost) this.lost++
      if (isLost || this.isCut) throw new Error('the answer is lost')
      response.writeHead(answer.status, withoutConnection(answer.headers))
      response.end(bytes)
    } catch {
      request.socket.destroy()
    }
  }

  private answerOf({ method, headers }: IncomingMessage, to: URL | Response, body: Buffer): Promise<Response> {
    if (to instanceof Response) return Promise.resolve(to)
    const own = { ...withoutConnection(new Headers(headers as HeadersInit)), 'accept-encoding': 'identity' }
    return fetch(to, {
      method: method ?? 'GET',
      body: body.length > 0 ? Uint8Array.from(body) : null,
      headers: own,
      redirect: 'manual',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}

function withoutConnection(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !OF_CONNECTION.has(name)))
}
