import { createHash } from 'node:crypto'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'

export const CLIENT = { clientId: 'tagwarden', clientSecret: 'cl1ent-secret' }

/** Exactly one megabyte. */
export const BOOK = 'x'.repeat(1024 * 1024)

/** The server of the fictitious tracker: OAuth 2.0 with PKCE, and tickets. It stops when disposed. */
export function deskServer() {
  const tickets: { key: string; label: string; status: string }[] = []
  const changes: { ticket: string; status: string }[] = []
  const challenges = new Map<string, string>()
  const tokens: string[] = []
  const refreshTokens: string[] = []
  const behaviour = {
    expiresIn: 3600,
    /** Replaces a response. Null: the normal response is sent. */
    instead: (_request: Received): Response | Promise<Response> | null => null,
  }

  function grant(form: URLSearchParams): Response {
    const refused = (error: string) => Response.json({ error }, { status: 400 })
    if (form.get('client_secret') !== CLIENT.clientSecret) return refused('invalid_client')
    const verifier = form.get('code_verifier')
    const challenge = verifier && createHash('sha256').update(verifier).digest('base64url')
    const code = form.get('code') ?? ''
    const isGood =
      form.get('grant_type') === 'authorization_code'
        ? challenge !== null && challenges.get(code) === challenge
        : // Refresh tokens can be used once.
          refreshTokens.at(-1) === form.get('refresh_token')
    if (!isGood) return refused('invalid_grant')
    challenges.delete(code)
    tokens.push(`access-t0ken-${tokens.length}`)
    refreshTokens.push(`refresh-t0ken-${refreshTokens.length}`)
    return Response.json({
      access_token: tokens.at(-1),
      refresh_token: refreshTokens.at(-1),
      expires_in: behaviour.expiresIn,
      token_type: 'Bearer',
    })
  }

  async function answer(request: Received): Promise<Response> {
    const other = await behaviour.instead(request)
    if (other) return other
    const { pathname, searchParams } = new URL(request.path, 'http://desk')
    if (pathname === '/token') return grant(new URLSearchParams(request.body))
    if (request.headers.authorization !== `Bearer ${tokens.at(-1)}`) return new Response('who?', { status: 401 })
    if (pathname === '/me') return Response.json({ name: 'us' })
    if (pathname === '/book') return new Response(BOOK)
    if (pathname === '/changes') return Response.json({ changes, cursor: changes.length })
    return ticket(request, pathname.split('/')[2], searchParams)
  }

  function ticket({ method, body }: Received, key: string | undefined, query: URLSearchParams): Response {
    if (method === 'GET') return Response.json(tickets.filter(({ label }) => label === query.get('label')))
    if (method === 'POST') {
      const made = { key: `DESK-${tickets.length + 1}`, label: JSON.parse(body).label, status: 'open' }
      tickets.push(made)
      return Response.json(made, { status: 201 })
    }
    const known = tickets.find((one) => one.key === key)
    if (!known) return new Response('no such ticket', { status: 404 })
    if (method === 'PATCH') known.status = JSON.parse(body).status
    return new Response(null, { status: 204 })
  }

  const server = receiver(answer)
  /** Acts as the browser: gives consent and follows the redirect. */
  function consent(authorizeUrl: string): string {
    const { searchParams } = new URL(authorizeUrl)
    const code = `c0de-${challenges.size}`
    challenges.set(code, searchParams.get('code_challenge') ?? '')
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', searchParams.get('state') ?? '')
    return back.href
  }
  return { ...server, tickets, changes, tokens, refreshTokens, behaviour, consent }
}
