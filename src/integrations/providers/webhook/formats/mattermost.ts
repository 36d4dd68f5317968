import { SECOND_MS } from '../../../../core/clock.ts'
import { escapeHtml } from '../../../../core/html.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { MARKDOWN, withoutMentions } from '../markups.ts'

/** Mattermost, by an incoming webhook. */
export const mattermost: ChatFormat = {
  shows: 'messages',
  name: 'mattermost',
  title: 'Mattermost',
  reference: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  secret: { use: 'none' },
  checkUrl(url) {
    requireUrl(url, /\/hooks\/[a-z\d]+$/i, 'https://mattermost.example.com/hooks/KEY')
  },
  intervalMs: SECOND_MS,
  markup: {
    ...MARKDOWN,
    // Backslashes do not escape `<` and `&`: https://docs.mattermost.com/collaborate/format-messages.html
    escape: (text) => escapeHtml(withoutMentions(text).replace(/[\\`*_~|[\]!#]/g, String.raw`\$&`)),
  },
  // A post has at most 16,383 characters, including the headline with its link.
  maxLength: 14_000,
  post: ({ headline, url, text }, to) =>
    postJson(to.url, { text: `${MARKDOWN.bold(MARKDOWN.link(headline, url))}\n${text}` }),
  errorIn: ({ body }) => productError(body.message, body.id === 'web.incoming_webhook.invalid.app_error'),
}
