import { SECOND_MS } from '../../../../core/clock.ts'
import { cutText, oneLine } from '../../../../core/text.ts'
import { textOf } from '../../../message/message-text.ts'
import { type IncidentFormat, postJson, productError, requireUrl } from '../format.ts'
import { withoutMarkup } from '../markups.ts'
import { PRODUCT_SEVERITIES } from '../product-severities.ts'

/** Paths of the alert API that change an alert. */
const ACTIONS = { acknowledge: 'acknowledge', resolve: 'close' } as const

/** Opsgenie and Jira Service Management, by an API integration. The issue id is the alias of the alert. */
export const opsgenie: IncidentFormat = {
  shows: 'incidents',
  name: 'opsgenie',
  title: 'Opsgenie or Jira Service Management',
  reference: 'https://docs.opsgenie.com/docs/alert-api',
  secret: { use: 'required', name: 'API key', pattern: /^(?!whsec_)[\x21-\x7e]+$/ },
  // Jira: https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events
  checkUrl(url) {
    requireUrl(url, /\/v2\/alerts$/, 'https://api.opsgenie.com/v2/alerts')
  },
  // The limit depends on the plan: https://docs.opsgenie.com/docs/api-rate-limiting
  intervalMs: SECOND_MS,
  request({ action, key, message }, { url, secret }) {
    const headers = { authorization: `GenieKey ${secret}` }
    if (action !== 'trigger') {
      const address = `${url}/${encodeURIComponent(key)}/${ACTIONS[action]}?identifierType=alias`
      return postJson(address, { source: 'Tagwarden', user: 'Tagwarden' }, headers)
    }
    const { issue, domain, vendor } = message
    const alert = {
      message: oneLine(withoutMarkup(message.issue?.title ?? message.sentence), 130),
      alias: key,
      description: cutText(withoutMarkup(textOf(message)), 15_000, '…'),
      details: issue ? { issue: issue.id, severity: issue.severity, url: message.url } : { url: message.url },
      entity: oneLine(withoutMarkup(domain?.name ?? 'Tagwarden'), 512),
      tags: [vendor, issue?.alertType].flatMap((tag) => (tag ? [oneLine(withoutMarkup(tag), 50)] : [])),
      source: 'Tagwarden',
      priority: PRODUCT_SEVERITIES[issue?.severity ?? 'low'].opsgenie,
    }
    return postJson(url, alert, headers)
  },
  errorIn: ({ body }) => productError(body.message),
}
