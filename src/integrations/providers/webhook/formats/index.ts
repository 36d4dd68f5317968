import type { WebhookFormat } from '../format.ts'
import { mattermost, rocketChat } from './slack-compatible.ts'

/** All formats other than Standard Webhooks. To add one, create a file next to this one and list it here. */
export const FORMATS: readonly WebhookFormat[] = [mattermost, rocketChat]
