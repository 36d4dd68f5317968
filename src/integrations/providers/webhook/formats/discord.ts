import { SECOND_MS } from '../../../../core/clock.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { MARKDOWN, withoutMentions } from '../markups.ts'
import { PRODUCT_SEVERITIES } from '../product-severities.ts'

/** Error code `Unknown Webhook`: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
const UNKNOWN_WEBHOOK = 10015

const GREEN = 0x16a34a

/** Discord, by the webhook of a channel. */
export const discord: ChatFormat = {
  shows: 'messages',
  name: 'discord',
  title: 'Discord',
  reference: 'https://docs.discord.com/developers/resources/webhook#execute-webhook',
  secret: { use: 'none' },
  checkUrl(url) {
    requireUrl(url, /^\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+(\?|$)/, 'https://discord.com/api/webhooks/ID/TOKEN')
  },
  // Discord accepts about 30 messages a minute in a channel and 5 in 2 s, but does not document these limits.
  intervalMs: 2 * SECOND_MS,
  markup: {
    ...MARKDOWN,
    escape: (text) => withoutMentions(text).replace(/[\\`*_~|[\]<>!#]/g, String.raw`\$&`),
  },
  // Description of an embed: https://docs.discord.com/developers/resources/message#embed-object-embed-limits
  maxLength: 4096,
  post: ({ headline, url, text, severity }, to) =>
    // Earlier versions, including the default one, request delays in ms instead of seconds.
    postJson(to.url.replace(/\/api\/(v\d+\/)?webhooks\//, '/api/v10/webhooks/'), {
      embeds: [
        {
          title: headline,
          url,
          description: text,
          color: severity === null ? GREEN : PRODUCT_SEVERITIES[severity].color,
        },
      ],
      allowed_mentions: { parse: [] },
    }),
  errorIn: ({ body }) => productError(body.message, body.code === UNKNOWN_WEBHOOK, body.retry_after),
}
