import { SECOND_MS } from '../../../../core/clock.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { bytesOf, HTML } from '../markups.ts'

const REFERENCE = 'https://developers.google.com/workspace/chat/quickstart/webhooks'

/** Google Chat, by the webhook of a space. All messages about one issue are in one thread. */
export const googleChat: ChatFormat = {
  shows: 'messages',
  name: 'google_chat',
  title: 'Google Chat',
  reference: REFERENCE,
  secret: { use: 'none' },
  checkUrl(url) {
    const example = 'https://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN'
    requireUrl(url, /^\/v1\/spaces\/[^/]+\/messages\?(?=(.*&)?key=[^&])(?=(.*&)?token=[^&])/, example)
  },
  // 60 writes a minute in a space: https://developers.google.com/workspace/chat/limits
  intervalMs: SECOND_MS,
  markup: {
    ...HTML,
    // Cards have no monospace font: https://developers.google.com/workspace/chat/format-messages#card-formatting
    code: (lines) => lines.map(HTML.escape).join('\n'),
    lengthOf: (text) => bytesOf(JSON.stringify(text)),
  },
  // A message has at most 32,000 bytes: https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create
  maxLength: 28_000,
  post({ headline, url, subject, text, issueId }, to) {
    const card = {
      header: { title: headline },
      sections: [
        {
          widgets: [
            { textParagraph: { text } },
            { buttonList: { buttons: [{ text: 'Open Tagwarden', onClick: { openLink: { url } } }] } },
          ],
        },
      ],
    }
    const body = { fallbackText: subject, cardsV2: [{ cardId: 'message', card }] }
    if (issueId === null) return postJson(to.url, body)
    const address = new URL(to.url)
    address.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
    return postJson(address.href, { ...body, thread: { threadKey: issueId } })
  },
  errorIn({ status, body }) {
    const error = body.error as { message?: unknown } | undefined
    return productError(error?.message, status === 404)
  },
}
