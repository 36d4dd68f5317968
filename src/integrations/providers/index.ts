import { email } from './email/email.ts'
import { emailDigest } from './email-digest/email-digest.ts'
import { issueTracker } from './issue-tracker/issue-tracker.ts'
import { officeChat } from './office-chat/office-chat.ts'
import type { Provider } from './provider.ts'
import { tagManager } from './tag-manager/tag-manager.ts'
import { teamChat } from './team-chat/team-chat.ts'
import { webhook } from './webhook/webhook.ts'

/** Every product that Tagwarden speaks with. A new one is a folder beside these and a line here. */
export const PROVIDERS: readonly Provider[] = [
  ...[email, emailDigest, issueTracker, officeChat, tagManager, teamChat, webhook],
]
