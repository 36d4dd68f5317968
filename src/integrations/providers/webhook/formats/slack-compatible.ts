import { SECOND_MS } from '../../../../core/clock.ts'
import { jsonObject } from '../../../../core/parse-json-object.ts'
import { renderGroup, renderOne } from '../../slack/render-message.ts'
import { type ChatFormat, noRejection, postJson } from '../format.ts'

/** Slack's text without its blocks, which these products ignore. */
const texts: Pick<ChatFormat, 'shows' | 'render' | 'renderGroup'> = {
  shows: 'messages',
  render: (message, { url }) => postJson(url, { text: renderOne(message, null).text }),
  renderGroup(issues, { url }) {
    const open = issues.map((one) => ({
      status: 'open' as const,
      // Read on demand: only the listed issues are rendered, and there can be thousands.
      get message() {
        return one.message
      },
    }))
    return postJson(url, { text: renderGroup(open).text })
  },
}

/** Mattermost, by an incoming webhook. */
export const mattermost: ChatFormat = {
  ...texts,
  name: 'mattermost',
  title: 'Mattermost',
  reference: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  secret: { use: 'none' },
  checkUrl: () => undefined,
  intervalMs: SECOND_MS,
  goneStatuses: [],
  rejectionIn: noRejection,
}

/** Rocket.Chat, by an incoming integration. */
export const rocketChat: ChatFormat = {
  ...texts,
  name: 'rocket_chat',
  title: 'Rocket.Chat',
  reference: 'https://docs.rocket.chat/docs/integrations',
  secret: { use: 'none' },
  checkUrl: () => undefined,
  intervalMs: SECOND_MS,
  goneStatuses: [],
  // Scripts and disabled integrations answer 200 with `success: false`.
  rejectionIn(body) {
    const { success, error } = jsonObject(body) ?? {}
    if (success !== false) return null
    return `Rocket.Chat rejected the message${typeof error === 'string' ? `: ${error.slice(0, 200)}` : ''}`
  },
}
