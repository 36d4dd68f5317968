import { SECOND_MS } from '../../../../core/clock.ts'
import { type ChatFormat, postJson, productError, requireUrl } from '../format.ts'
import { PLAIN } from '../markups.ts'
import { PRODUCT_SEVERITIES } from '../product-severities.ts'

/** ntfy, on ntfy.sh or an own server. The last part of the URL is the topic. */
export const ntfy: ChatFormat = {
  shows: 'messages',
  name: 'ntfy',
  title: 'ntfy',
  reference: 'https://docs.ntfy.sh/publish/#publish-as-json',
  secret: { use: 'optional', name: 'access token', pattern: /^tk_\w+$/ },
  checkUrl(url) {
    requireUrl(url, /\/[-\w]{1,64}$/, 'https://ntfy.sh/TOPIC')
  },
  // 60 requests at once, then one every 5 s: https://docs.ntfy.sh/publish/#limitations
  intervalMs: SECOND_MS,
  markup: PLAIN,
  // In bytes. A longer message becomes an attachment: https://docs.ntfy.sh/publish/#limitations
  maxLength: 4096,
  post({ url, subject, text, severity }, to) {
    const body = {
      topic: new URL(to.url).pathname.split('/').at(-1),
      title: subject,
      message: text,
      priority: PRODUCT_SEVERITIES[severity ?? 'low'].ntfy,
      tags: [severity === null ? 'white_check_mark' : 'warning'],
      click: url,
    }
    return postJson(new URL('.', to.url).href, body, to.secret === '' ? {} : { authorization: `Bearer ${to.secret}` })
  },
  errorIn: ({ body }) => productError(body.error),
}
