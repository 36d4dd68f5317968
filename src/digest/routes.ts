import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import type { DigestComposer } from './digest-composer.ts'
import { nextDue } from './digest-schedule.ts'
import { MAX_CONTEXT } from './email-digest.ts'
import { isStarted, type MemberId, subscribe, subscriptionOf } from './store.ts'
import { type UnsubscribeDeps, unsubscribeRoutes } from './unsubscribe.ts'

interface DigestRouteDeps extends UnsubscribeDeps {
  composer: DigestComposer
}

const tag = 'Notifications'
const context = Type.Optional(
  Type.String({
    maxLength: MAX_CONTEXT,
    description:
      'Topics shown first in the digest: names of domains, vendors, events and labels, and the audiences `executive`, ' +
      '`marketing`, `developer` or `privacy`, anywhere in the text. Default: the context of the subscription',
    examples: ['executive: Checkout and Meta Pixel'],
  }),
)

const PreviewInputSchema = Closed(
  { context },
  { $id: 'DigestPreviewInput', examples: [{ context: 'marketing, Meta Pixel' }] },
)

const PreviewSchema = Closed(
  {
    hasData: Type.Boolean({
      description: 'Whether there was activity. Without activity, the digest is sent only on Mondays',
    }),
    subject: Type.String(),
    html: Type.String({ description: 'HTML of the e-mail, smaller than 100 kB and without external resources' }),
    composedAt: InstantSchema,
    refreshInSeconds: Int({ minimum: 0, maximum: 600, description: 'Seconds until the cached preview expires' }),
  },
  {
    $id: 'DigestPreview',
    examples: [
      {
        hasData: true,
        subject: 'Acme: Google Analytics 4 purchase fell by 80 %',
        html: '<!doctype html>…',
        composedAt: 1_767_614_400_000,
        refreshInSeconds: 600,
      },
    ],
  },
)

const SubscriptionInputSchema = Closed(
  {
    subscribed: Type.Boolean(),
    context,
    hourUtc: Type.Optional(
      Int({
        minimum: 0,
        maximum: 23,
        description: 'Hour in UTC after which the digest is sent. Initially 7. Omit to keep the current hour',
      }),
    ),
  },
  {
    $id: 'DigestSubscriptionInput',
    examples: [{ subscribed: true, context: 'executive: Checkout and Meta Pixel', hourUtc: 6 }],
  },
)

const SubscriptionSchema = Closed(
  {
    subscribed: Type.Boolean(),
    context: Type.String(),
    hourUtc: Int(),
    nextAt: Nullable(
      Type.Number({
        ...InstantSchema,
        description: 'Time at which the next digest is due, if there is activity by then. Null if not subscribed',
      }),
    ),
  },
  {
    $id: 'DigestSubscription',
    examples: [{ subscribed: true, context: 'executive', hourUtc: 6, nextAt: 1_767_679_200_000 }],
  },
)

const SubscribedSchema = Closed(
  { ok: Type.Boolean(), subscribed: Type.Boolean() },
  { $id: 'DigestSubscribed', examples: [{ ok: true, subscribed: true }] },
)

/** Digest routes: the preview, the caller's subscription, and unsubscribing. */
export function digestRoutes(deps: DigestRouteDeps): Route[] {
  const { db, composer } = deps
  return [
    route({
      id: 'previewDigest',
      method: 'POST',
      path: '/v1/notifications/digest/preview',
      access: 'read',
      tag,
      summary: "Preview the caller's digest without sending it",
      description:
        'Covers the last 24 hours, compared with the same hours a week earlier. Previews are cached for 10 minutes.',
      refusals: ['unavailable'],
      question: true,
      body: PreviewInputSchema,
      bodyOptional: true,
      answer: PreviewSchema,
      handle: ({ principal, body: { context = subscriptionOf(db, principal).context }, signal }) =>
        composer.preview(principal, context, signal),
    }),
    ...subscriptionRoutes(deps),
    ...unsubscribeRoutes(deps),
  ]
}

function subscriptionRoutes({ db, clock }: DigestRouteDeps): Route[] {
  const path = '/v1/notifications/digest/me'
  const shown = ({ orgId, userId }: MemberId): Static<typeof SubscriptionSchema> => {
    const { subscribed, context, hourUtc } = subscriptionOf(db, { orgId, userId })
    const hasBegun = (day: number) => isStarted(db, { orgId, reader: userId, day })
    return { subscribed, context, hourUtc, nextAt: subscribed ? nextDue(hourUtc, clock.now(), hasBegun) : null }
  }
  return [
    route({
      id: 'getMyDigest',
      method: 'GET',
      path,
      access: 'read',
      tag,
      summary: "Get the caller's digest subscription",
      tool: true,
      answer: SubscriptionSchema,
      handle: ({ principal }) => shown(principal),
    }),
    route({
      id: 'setMyDigest',
      method: 'PUT',
      path,
      access: 'own',
      tag,
      summary: 'Subscribe the caller to the digest, or unsubscribe; omitted fields are unchanged',
      refusals: ['conflict'],
      tool: true,
      body: SubscriptionInputSchema,
      answer: SubscribedSchema,
      handle({ principal: { orgId, userId }, body }) {
        const isMember = subscribe(db, { orgId, userId }, body)
        if (!isMember)
          throw new AppError('conflict', 'digests are sent to users, and this credential does not belong to a user')
        return { ok: true, subscribed: body.subscribed }
      },
      note: ({ body: { subscribed } }) => ({ subscribed }),
    }),
  ]
}
