import { apiClient, type CallApi, listAll, RejectedCall } from '../configuration/api-client.ts'
import { messageOf } from '../core/error.ts'
import { type Command, type Flag, type Invocation, UsageError } from './command.ts'

/** Flags of commands that call the API of a server. */
export const SERVER_FLAGS = {
  url: { type: 'string', value: 'BASE', meaning: 'URL of the server; default http://127.0.0.1:8787' },
  key: { type: 'string', value: 'K', meaning: 'API key, ak_…; default: the variable TAGWARDEN_KEY' },
} as const satisfies Record<string, Flag>

const DEFAULT_URL = 'http://127.0.0.1:8787'
/** Maximum time that a request may take. */
const TIMEOUT_MS = 60_000

/** Returns the API key in the flags or the environment; null if there is none. Throws `UsageError` if it is empty. */
export function keyOf({ name }: Pick<Command, 'name'>, { flags, env }: Invocation): string | null {
  const key = flags.key ?? env.TAGWARDEN_KEY ?? null
  if (key === '') throw new UsageError(`${name}: --key is empty`)
  return key === null ? null : String(key)
}

/** Returns a function that calls the API of the server that the flags name. Throws `UsageError`. */
export function openServer(command: Command, invocation: Invocation): CallApi {
  const key = keyOf(command, invocation)
  if (key === null) throw new UsageError(`${command.name}: --key is missing; TAGWARDEN_KEY can contain it`)
  return callServer(baseUrl(command.name, String(invocation.flags.url ?? DEFAULT_URL)), key)
}

/** Returns the URL without a trailing slash, query or fragment. Throws `UsageError` when it is not a web address. */
function baseUrl(command: string, url: string): string {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`${command}: --url must be a web address, such as https://tags.example.com`)
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

const callServer = (url: string, key: string): CallApi =>
  apiClient({ url, key }, (request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }))

/** Calls the API of a server, and reports everything that fails as incorrect use of a command. */
export class ServerClient {
  private readonly base: string
  private readonly callApi: CallApi

  /** @param url URL of the server; throws `UsageError` when it is not a web address */
  constructor(
    private readonly command: string,
    url: string,
    key: string,
  ) {
    this.base = baseUrl(command, url)
    this.callApi = callServer(this.base, key)
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
  list<T>(path: string, noun: string): Promise<T[]> {
    return listAll((...call) => this.call(...call), path, noun) as Promise<T[]>
  }

  /** Rejects with `UsageError` when the server can't be reached or returns an error. */
  private readonly call: CallApi = async (method, path, body) => {
    try {
      return await this.callApi(method, path, body)
    } catch (error) {
      const reason =
        error instanceof RejectedCall
          ? `${method} ${path.split('?')[0]}: ${error.status}: ${error.message}`
          : `${this.base} can't be reached: ${messageOf(error)}`
      throw new UsageError(`${this.command}: ${reason}`)
    }
  }
}
