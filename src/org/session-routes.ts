import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Nullable, OneOf, Type } from '../core/schema.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { sessionOf } from './change-password.ts'
import { endSession, listSessions, SESSION_ORIGINS, type SessionRecord } from './session.ts'
import { auditEverywhere, type PasswordSignInDeps } from './sign-in.ts'

const TAG = 'Sign-in'

const SessionSchema = Closed(
  {
    id: Type.String({ description: 'Id of the session, not its token' }),
    via: OneOf(SESSION_ORIGINS),
    current: Type.Boolean({ description: 'True for the session that sent this request' }),
    createdAt: InstantSchema,
    lastUsedAt: Type.Number({ ...InstantSchema, description: 'Accurate to one minute' }),
    expiresAt: InstantSchema,
    address: Nullable(Type.String({ description: 'IP address from which the session was opened; null when unknown' })),
    browser: Nullable(
      Type.String({
        description: 'Browser and system that opened the session; the `user-agent` if it is not a browser',
      }),
    ),
  },
  {
    $id: 'Session',
    examples: [
      {
        id: 'f3b1c9d07a5e42688c1d9be0a47f52c3118e6f0d92b7a4c5e8d1f6a3b0c9e7d2',
        via: 'password',
        current: true,
        createdAt: 1_767_610_800_000,
        lastUsedAt: 1_767_614_400_000,
        expiresAt: 1_767_657_600_000,
        address: '192.0.2.7',
        browser: 'Firefox 146, Windows',
      },
    ],
  },
)

const SessionList = Closed(
  { sessions: Type.Array(SessionSchema, { description: 'Most recently used first' }) },
  { $id: 'SessionList' },
)

export interface SessionRouteDeps extends Pick<PasswordSignInDeps, 'audit'> {
  db: Db
  clock: Clock
  /** Returns a name such as `Firefox 146, Windows` for a `user-agent`; null when it names no known browser. */
  browserOf(userAgent: string): string | null
}

/** Returns the routes for the caller's sessions. They return `conflict` for API keys, which have no session. */
export function sessionRoutes(parts: SessionRouteDeps): Route[] {
  const { db, clock, browserOf } = parts
  return [
    route({
      id: 'listSessions',
      method: 'GET',
      path: '/v1/auth/sessions',
      access: 'read',
      anyOrg: true,
      tag: TAG,
      summary: 'List your own sessions that have not expired',
      description: 'Requires a session: API keys cannot list the sessions of their user.',
      refusals: ['conflict'],
      answer: SessionList,
      exports: 'sessions',
      handle({ principal }) {
        const current = sessionOf(principal)
        const sessions = listSessions(db, clock, principal.userId)
        const describe = ({ userAgent, ...session }: SessionRecord) => ({
          ...session,
          current: session.id === current,
          browser: userAgent === null ? null : (browserOf(userAgent) ?? userAgent),
        })
        return { sessions: sessions.map(describe) }
      },
    }),
    route({
      id: 'endSession',
      method: 'DELETE',
      path: '/v1/auth/sessions/{id}',
      access: 'own',
      anyOrg: true,
      tag: TAG,
      summary: 'End one of your own sessions; later requests with it are rejected',
      description: 'Requires a session; API keys receive 404.',
      params: ById,
      answer: OkSchema,
      handle({ principal, params: { id }, origin: { address } }) {
        const { userId, orgId } = principal
        const isOwn = listSessions(db, clock, userId).some((one) => one.id === id)
        if (!isOwn || principal.via !== 'session') throw new AppError('notFound', 'no such session')
        endSession(db, id)
        auditEverywhere(parts, userId, { act: 'endSession', userId, address, target: id }, orgId)
        return OK
      },
    }),
  ]
}
