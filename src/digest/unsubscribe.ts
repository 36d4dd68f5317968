import type { Clock } from '../core/clock.ts'
import { AppError, orNull } from '../core/error.ts'
import { type Html, html } from '../core/html.ts'
import { Closed, parser, Text, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type OwnCredential, publicRoute, type Route } from '../http/route.ts'
import { header } from '../mail/mail-elements.ts'
import { LOGO_DATA_URL } from '../mail/mail-logo.ts'
import { mailPage, themed } from '../mail/mail-theme.ts'
import { writeAuditEntry } from '../org/audit-log.ts'
import { findOrg } from '../org/store.ts'
import { type Db, tx } from '../store/database.ts'
import { removeRecipient } from './email-digest-recipients.ts'
import { subscribe, subscriptionOf } from './store.ts'

export const UNSUBSCRIBE_PATH = '/v1/notifications/digest/unsubscribe'

export interface UnsubscribeDeps {
  db: Db
  box: SecretBox
  clock: Clock
}

const ByToken = Closed({ t: Text(1, 2000, { description: 'Capability token from the link in a digest' }) })
const Page = Type.String({
  description: 'HTML page without scripts',
  examples: ['<!doctype html>…'],
})

const CREDENTIAL: OwnCredential = {
  name: 'unsubscribeToken',
  scheme: { type: 'apiKey', in: 'query', name: 't', description: 'Capability token from the link in a digest' },
}

/** Allows inline styles, and the page's only form, which posts to the page itself. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** Unsubscribing without sign-in: one-click POST by mail clients (RFC 8058), and a confirmation page for browsers. */
export function unsubscribeRoutes({ db, box, clock }: UnsubscribeDeps): Route[] {
  const shared = {
    path: UNSUBSCRIBE_PATH,
    tag: 'Notifications',
    query: ByToken,
    answer: Page,
    credential: CREDENTIAL,
    refusals: ['unauthorized'] as const,
    produces: 'text/html; charset=utf-8',
    headers: () => HEADERS,
  }
  return [
    publicRoute({
      ...shared,
      id: 'showUnsubscribe',
      method: 'GET',
      summary: 'Show the confirmation page for unsubscribing from the digest',
      handle({ query: { t } }) {
        const { orgId } = parseUnsubscribeToken(box, t)
        return askPage(findOrg(db, orgId)?.name ?? '')
      },
    }),
    publicRoute({
      ...shared,
      id: 'unsubscribe',
      method: 'POST',
      summary: 'Unsubscribe from a digest with the token from its link',
      description: 'One-click unsubscription (RFC 8058), without sign-in. Idempotent. The request body is ignored.',
      handle({ query: { t }, origin }) {
        const unsubscription = parseUnsubscribeToken(box, t)
        tx(db, () => {
          if (unsubscribe(db, unsubscription)) audit(unsubscription, origin.address)
        })
        return donePage(findOrg(db, unsubscription.orgId)?.name ?? '')
      },
    }),
  ]

  function audit(unsubscription: Unsubscription, address: string | null): void {
    const isMember = 'userId' in unsubscription
    writeAuditEntry(db, clock, {
      orgId: unsubscription.orgId,
      act: 'unsubscribe',
      address,
      userId: isMember ? unsubscription.userId : null,
      target: isMember ? unsubscription.userId : unsubscription.integrationId,
    })
  }
}

const named = (orgName: string) => (orgName === '' ? '' : ` for ${orgName}`)

function askPage(orgName: string): string {
  const button = themed(
    'button',
    'border:0;border-radius:8px;padding:10px 20px;font:inherit;font-weight:600;cursor:pointer',
  )
  return page(
    'Unsubscribe?',
    html`<p style="margin:0 0 16px">You will no longer receive the digest${named(orgName)}.</p>
<form method="post"><button type="submit" ${button}>Unsubscribe</button></form>`,
  )
}

const donePage = (orgName: string) =>
  page(
    'Unsubscribed',
    html`<p style="margin:0">You will no longer receive the digest${named(orgName)}. You can subscribe again in Tagwarden at any time.</p>`,
  )

const page = (title: string, content: Html) =>
  mailPage({
    title: `${title} - Tagwarden`,
    preview: '',
    above: header({ about: '', badge: null }, LOGO_DATA_URL),
    body: html`<h1 style="margin:0 0 12px;font-size:20px;line-height:1.35">${title}</h1>\n${content}`,
    below: null,
  })

/** The subscription that an unsubscribe link cancels: a member's, or that of an e-mail address in an integration. */
export type Unsubscription =
  | { kind: 'digest'; orgId: string; userId: string }
  | { kind: 'digest'; orgId: string; integrationId: string; address: string }

const kind = Type.Literal('digest')
const UnsubscriptionSchema = Type.Union([
  Closed({ kind, orgId: Text(1, 100), userId: Text(1, 100) }),
  Closed({ kind, orgId: Text(1, 100), integrationId: Text(1, 100), address: Text(1, 254) }),
])
const parse = parser(UnsubscriptionSchema)

/** Capability token of the unsubscribe link. It can only cancel this subscription, and never expires. */
export function unsubscribeToken(box: SecretBox, unsubscription: Unsubscription): string {
  return box.seal(JSON.stringify(unsubscription)).toString('base64url')
}

/** Fails with `unauthorized` for a token that was not issued by this data folder. */
function parseUnsubscribeToken(box: SecretBox, token: string): Unsubscription {
  try {
    return parse(JSON.parse(box.open(Buffer.from(token, 'base64url'))))
  } catch {
    throw new AppError('unauthorized', 't: is not a valid unsubscribe token')
  }
}

/** Cancels the subscription. Returns false if it was already cancelled. */
function unsubscribe(db: Db, unsubscription: Unsubscription): boolean {
  if ('userId' in unsubscription) {
    return tx(
      db,
      () => subscriptionOf(db, unsubscription).subscribed && subscribe(db, unsubscription, { subscribed: false }),
    )
  }
  const { orgId, integrationId: id, address } = unsubscription
  return orNull(() => removeRecipient(db, { orgId, id }, address)) ?? false
}
