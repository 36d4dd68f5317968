import { SECOND_MS } from '../../../../core/clock.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { MARKDOWN, withoutMarkup } from '../markups.ts'

/** Rocket.Chat, by an incoming integration. */
export const rocketChat: ChatFormat = {
  shows: 'messages',
  name: 'rocket_chat',
  title: 'Rocket.Chat',
  reference: 'https://docs.rocket.chat/docs/integrations',
  secret: { use: 'none' },
  checkUrl(url) {
    requireUrl(url, /\/hooks\/[^/]+\/[^/]+$/, 'https://chat.example.com/hooks/ID/TOKEN')
  },
  intervalMs: SECOND_MS,
  markup: {
    ...MARKDOWN,
    escape: withoutMarkup,
    bold: (text) => `*${text}*`,
  },
  // Default of the setting "Maximum Allowed Characters Per Message" is 5,000, including the headline with its link.
  maxLength: 4500,
  post: ({ headline, url, text }, to) => postJson(to.url, { text: `*${MARKDOWN.link(headline, url)}*\n${text}` }),
  // Scripts of an integration can report an error with the status 200. 404: the integration was deleted.
  errorIn: ({ status, body }) => (body.success === false ? productError(body.error, status === 404) : null),
}
