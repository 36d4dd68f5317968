import type { WebhookFormat } from '../format.ts'
import { discord } from './discord.ts'
import { googleChat } from './google-chat.ts'
import { mattermost } from './mattermost.ts'
import { ntfy } from './ntfy.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerDuty } from './pagerduty.ts'
import { rocketChat } from './rocket-chat.ts'
import { telegram } from './telegram.ts'

/** All formats other than Standard Webhooks. To add one, create a file next to this one and list it here. */
export const FORMATS: readonly WebhookFormat[] = [
  discord,
  googleChat,
  mattermost,
  ntfy,
  opsgenie,
  pagerDuty,
  rocketChat,
  telegram,
]
