import { email } from './email/email.ts'
import { emailDigest } from './email-digest/email-digest.ts'
import { googleTagManager } from './google-tag-manager/google-tag-manager.ts'
import { jira } from './jira/jira.ts'
import type { Provider } from './provider.ts'
import { slack } from './slack/slack.ts'
import { teams } from './teams/teams.ts'
import { webhook } from './webhook/webhook.ts'

/** Every product that Tagwarden speaks with. A new one is a folder beside these and a line here. */
export const PROVIDERS: readonly Provider[] = [...[email, emailDigest, jira, teams, googleTagManager, slack, webhook]]
