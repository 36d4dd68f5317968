import { PURCHASE_FACTS } from '../../src/integrations/message/message.fixture.ts'
import { buildMessage } from '../../src/integrations/message/message.ts'
import { textOfMessage } from '../../src/integrations/providers/webhook/chat-text.ts'
import type { Destination, WebhookFormat } from '../../src/integrations/providers/webhook/format.ts'
import type { HttpOutbound } from '../../src/transport/transport.ts'

const { finding, ...facts } = PURCHASE_FACTS

/** The opening shown in the guide to the formats. */
const message = buildMessage({
  ...facts,
  finding: finding && { ...finding, sample: { event: 'purchase', host: 'shop.example', params: { value: '' } } },
  changes: [],
})

/** URLs and secrets shown in the guide. */
const DESTINATIONS: Record<string, Destination> = {
  discord: { url: 'https://discord.com/api/webhooks/1159013241337/TOKEN', secret: '' },
  google_chat: { url: 'https://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN', secret: '' },
  mattermost: { url: 'https://mattermost.company.example/hooks/xen8nyfkw3dn', secret: '' },
  ntfy: { url: 'https://ntfy.sh/company-tags', secret: 'tk_…' },
  opsgenie: { url: 'https://api.opsgenie.com/v2/alerts', secret: 'KEY' },
  pagerduty: { url: 'https://events.pagerduty.com/v2/enqueue', secret: 'INTEGRATION_KEY' },
  rocket_chat: { url: 'https://chat.company.example/hooks/ID/TOKEN', secret: '' },
  telegram: { url: 'https://api.telegram.org/bot110201543:TOKEN/sendMessage?chat_id=-100123', secret: '' },
}

/** Request that a format sends for the opening. */
export function exampleRequest(format: WebhookFormat): HttpOutbound {
  const to = DESTINATIONS[format.name]
  if (!to) throw new Error(`${format.name} has no URL in this file`)
  if (format.shows === 'messages') return format.post(textOfMessage(message, format.markup, format.maxLength), to)
  return format.request({ action: 'trigger', key: message.issue?.id ?? '', message }, to)
}
