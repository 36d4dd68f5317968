import { SECOND_MS } from '../../../../core/clock.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { HTML } from '../markups.ts'

/** Telegram, by a bot. The URL names the chat: `https://api.telegram.org/bot…/sendMessage?chat_id=…`. */
export const telegram: ChatFormat = {
  shows: 'messages',
  name: 'telegram',
  title: 'Telegram',
  reference: 'https://core.telegram.org/bots/api#sendmessage',
  secret: { use: 'none' },
  checkUrl(url) {
    const example = 'https://api.telegram.org/botTOKEN/sendMessage?chat_id=CHAT'
    requireUrl(url, /^\/bot\d+:[\w-]+\/sendMessage\?(.*&)?chat_id=[^&]/, example)
  },
  // 20 messages a minute in a group: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
  intervalMs: 3 * SECOND_MS,
  markup: HTML,
  // A message has at most 4,096 characters after its tags and entities are parsed, including the headline.
  maxLength: 4000,
  post({ headline, url, text }, to) {
    const address = new URL(to.url)
    const body = {
      ...Object.fromEntries(address.searchParams),
      text: `${HTML.bold(HTML.link(headline, url))}\n${text}`,
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }
    address.search = ''
    return postJson(address.href, body)
  },
  errorIn({ status, body }) {
    const parameters = body.parameters as { retry_after?: unknown } | undefined
    // 403: the bot was blocked by the user or removed from the group.
    return body.ok === false ? productError(body.description, status === 403, parameters?.retry_after) : null
  },
}
