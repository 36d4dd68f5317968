import { Anchor } from '@mantine/core'
import { messages } from '../../messages.ts'
import { SettingsLayout } from './settings-layout.tsx'

/** `/settings/about`: links to the documentation of this server. */
export function AboutPage() {
  return (
    <SettingsLayout name="about">
      <Anchor href="/docs">{messages.settings.pages.about}</Anchor>
    </SettingsLayout>
  )
}
