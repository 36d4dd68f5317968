import type { OperationId } from '#client/types.gen'
import { messages } from '../messages.ts'
import { ApiError } from './api-error.ts'
import { fetchPreloaded } from './preload.ts'
import { session } from './session.ts'

/** The parts of a request that depend on its operation. The generated `…Data` types have this form. */
export interface RequestData {
  body?: unknown
  path?: Record<string, string>
  query?: object
  headers?: Record<string, string>
}

export type RequestOptions<Data extends RequestData = RequestData> = Data & {
  signal?: AbortSignal
  /** The credential to use instead of the session's. */
  auth?: string
}

/** The arguments of an operation. The options are optional when no part of the request is required. */
type Arguments<Data extends RequestData> =
  Partial<Data> extends Data ? [options?: RequestOptions<Data>] : [options: RequestOptions<Data>]

/** An operation of the API. `path` contains parameters in braces, such as `/v1/alerts/{id}`. */
interface OperationDefinition {
  id: OperationId
  method: string
  path: string
  /** True when the operation requires no credential. */
  isPublic?: boolean
}

/** A function that calls an operation of the API and throws an `ApiError` when it fails. */
export interface Operation<Data extends RequestData, Answer> {
  (...options: Arguments<Data>): Promise<{ data: Answer }>
  /** The operation's id, with which query keys start. */
  id: OperationId
  method: string
  path: string
}

/** Returns the function for an operation with a JSON response. */
export function operation<Data extends RequestData, Answer>(definition: OperationDefinition): Operation<Data, Answer> {
  const call = async (options?: RequestOptions) => {
    return { data: (await readJson(await send(definition, options))) as Answer }
  }
  return Object.assign(call, definition) as Operation<Data, Answer>
}

/** Sends a request of the session. Returns a successful response; throws an `ApiError` for any other. */
export async function send(
  { method, path, isPublic }: Pick<OperationDefinition, 'method' | 'path' | 'isPublic'>,
  { path: parameters, query, body, signal, auth, headers: given }: RequestOptions = {},
): Promise<Response> {
  const state = session.state()
  const headers = new Headers(given)
  const credential = auth ?? (state.is === 'open' ? state.session.credential : null)
  if (!isPublic && credential) headers.set('authorization', `Bearer ${credential}`)
  if (state.is === 'open' && state.session.orgId) headers.set('x-org-id', state.session.orgId)
  const init: RequestInit = { method, headers, signal: signal ?? null }
  if (body !== undefined) {
    headers.set('content-type', 'application/json')
    init.body = JSON.stringify(body)
  }
  const response = await fetchPreloaded(new Request(addressOf(path, parameters, query), init)).catch(unreachable)
  if (response.ok) return response
  if (response.status === 401 && !isPublic && credential) session.end(credential)
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  const sentence = sentenceOf(await response.text().catch(() => '')) ?? response.statusText
  const needsCode = response.headers.get('x-second-factor') !== null
  throw new ApiError(sentence, response.status, Number.isNaN(wait) ? null : wait, needsCode)
}

/** Throws the error of an aborted request, and an `ApiError` for any other failure to get a response. */
function unreachable(error: unknown): never {
  const isAbort = error instanceof DOMException && error.name === 'AbortError'
  throw isAbort ? error : new ApiError(messages.shell.unreachable, 0, null)
}

/** Returns the body of a response. Throws an `ApiError` if it is cut off or not JSON. */
export const readJson = (response: Response): Promise<unknown> => response.json().catch(unreachable)

/** Returns the URL of a request. Lists are separated by commas, and undefined values are omitted. */
function addressOf(path: string, parameters: Record<string, string> = {}, query: object = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name] ?? ''))
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${[value].flat().map(encodeURIComponent).join(',')}`)
  return search.length > 0 ? `${filled}?${search.join('&')}` : filled
}

/** Returns the message of an error body `{"error": string}`; null for other bodies. */
function sentenceOf(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text)
    const { error } = (typeof body === 'object' && body) as { error?: unknown }
    return typeof error === 'string' ? error : null
  } catch {
    return null
  }
}
