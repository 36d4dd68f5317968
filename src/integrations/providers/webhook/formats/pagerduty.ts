import { SECOND_MS } from '../../../../core/clock.ts'
import { oneLine } from '../../../../core/text.ts'
import type { Message } from '../../../message/message.ts'
import { rowsOf, textBlocksOf } from '../../../message/message-text.ts'
import { type IncidentFormat, postJson, productError, requireUrl } from '../format.ts'
import { PRODUCT_SEVERITIES } from '../product-severities.ts'

/** PagerDuty, by an integration of the type Events API v2. The issue id is the deduplication key. */
export const pagerDuty: IncidentFormat = {
  shows: 'incidents',
  name: 'pagerduty',
  title: 'PagerDuty',
  reference: 'https://developer.pagerduty.com/docs/events-api-v2-overview',
  secret: { use: 'required', name: 'integration key', pattern: /^[a-z\d]{32}$/i },
  checkUrl(url) {
    requireUrl(url, /^\/v2\/enqueue$/, 'https://events.pagerduty.com/v2/enqueue')
  },
  // 120 events a minute: https://developer.pagerduty.com/docs/events-api-v2-rate-limits
  intervalMs: SECOND_MS / 2,
  request({ action, key, message }, { url, secret }) {
    const event = { routing_key: secret, event_action: action, dedup_key: key }
    if (action !== 'trigger') return postJson(url, event)
    return postJson(url, {
      ...event,
      payload: payloadOf(message),
      client: 'Tagwarden',
      client_url: message.url,
      links: [{ href: message.url, text: 'Open Tagwarden' }],
    })
  },
  // The body of an accepted event has a message as well.
  errorIn({ body: { status, message, errors } }) {
    if (status === 'success') return null
    return productError(Array.isArray(errors) ? [message, ...errors].join(': ') : message)
  },
}

/** Fields and limits: https://developer.pagerduty.com/docs/send-alert-event */
function payloadOf(message: Message): object {
  const { issue, domain, vendor, event, sentence, at } = message
  const details = [
    ...rowsOf(message),
    ...textBlocksOf(message).map(({ title, lines }) => [title, lines.join('\n')] as const),
  ]
  return {
    summary: oneLine(sentence, 1024),
    source: issue?.hosts?.[0] ?? domain?.name ?? 'Tagwarden',
    severity: PRODUCT_SEVERITIES[issue?.severity ?? 'low'].pagerduty,
    timestamp: new Date(at).toISOString(),
    component: vendor ?? undefined,
    group: domain?.name,
    class: event ?? undefined,
    // Several changes have the same label.
    custom_details: Object.fromEntries(
      Map.groupBy(details, ([label]) => label)
        .entries()
        .map(([label, rows]) => [label, rows.map(([, text]) => text).join('; ')]),
    ),
  }
}
