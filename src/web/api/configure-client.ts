import { client } from '#client/client.gen'
import { ApiError } from './api-error.ts'
import { fetchPreloaded } from './preload.ts'
import { session } from './session.ts'

/** Configures the generated client: credential, organization header, errors as `ApiError`. Called once. */
export function configureClient(unreachable: () => string): void {
  client.setConfig({
    baseUrl: '',
    throwOnError: true,
    // The generated client always passes a `Request`.
    fetch: Object.assign((request: URL | RequestInfo) => fetchPreloaded(request as Request), { preconnect() {} }),
    auth: () => {
      const state = session.state()
      return state.is === 'open' ? state.session.credential : undefined
    },
  })
  client.interceptors.request.use((request) => {
    const state = session.state()
    if (state.is === 'open' && state.session.orgId) request.headers.set('x-org-id', state.session.orgId)
    return request
  })
  client.interceptors.error.use((error, response, request) => {
    if (error instanceof DOMException && error.name === 'AbortError') return error
    if (!response) return new ApiError(unreachable(), 0, null)
    const credential = request?.headers.get('authorization')?.replace(/^Bearer /, '')
    if (response.status === 401 && credential) session.end(credential)
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
    return new ApiError(sentenceOf(error) ?? response.statusText, response.status, Number.isNaN(wait) ? null : wait)
  })
}

/** Returns the message of an error body `{"error": string}`; null for other bodies. */
function sentenceOf(body: unknown): string | null {
  const { error } = (typeof body === 'object' && body) as { error?: unknown }
  return typeof error === 'string' ? error : null
}
