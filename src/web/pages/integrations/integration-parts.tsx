import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { testIntegration } from '#client/sdk.gen'
import type { Integration } from '#client/types.gen'
import { CHANNEL_TYPES } from '../../../contract/products.ts'
import { mutate } from '../../api/mutate.ts'
import { useHasRole } from '../../api/whoami.ts'
import type { StatusIcon } from '../../components/status-mark.tsx'
import { messages } from '../../messages.ts'

/** The mark of each status. */
export const INTEGRATION_MARKS: Record<Integration['status'], StatusIcon> = {
  connected: 'resolved',
  failing: 'failed',
  incomplete: 'learning',
  reauth_required: 'failed',
  disabled: 'muted',
}

/** The product name of a provider; for an unknown provider, its name in the API. */
export function titleOf(provider: string): string {
  const known: Readonly<Record<string, string>> = messages.integrations.providers
  return known[provider] ?? provider
}

/** Link to the deliveries through an integration; nothing for providers that send no notifications, and for viewers. */
export function DeliveriesLink({ id, provider, label }: { id: string; provider: string; label: string }) {
  const seesTargets = useHasRole('member')
  if (!seesTargets || !CHANNEL_TYPES.some((type) => type === provider)) return null
  return (
    <Anchor component={Link} to="/deliveries" search={{ channel: [id] } as never} aria-description={label}>
      {messages.shell.pages.deliveries}
    </Anchor>
  )
}

/** Sends a test message. Errors from the provider are shown verbatim. */
export function TestButton({ id, label }: { id: string; label: string }) {
  const test = () =>
    mutate({
      send: () => testIntegration({ path: { id } }),
      invalidates: ['listIntegrations', 'getIntegration', 'listDeliveries'],
      message: messages.integrations.tested,
    })
  return (
    <Button variant="default" aria-description={label} onClick={() => void test()}>
      {messages.integrations.test}
    </Button>
  )
}
