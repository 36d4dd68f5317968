import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'

type SettingsName = keyof typeof messages.settings.pages

const NAMES = Object.keys({
  organization: 0,
  projects: 0,
  members: 0,
  keys: 0,
  digest: 0,
  usage: 0,
  'audit-log': 0,
  preferences: 0,
} satisfies Record<SettingsName, number>) as SettingsName[]

interface SettingsLayoutProps {
  name: SettingsName
  /** Actions to the right of the heading. */
  acts?: ReactNode
  children: ReactNode
}

/** The heading of a settings page, and links to the other settings pages. */
export function SettingsLayout({ name, acts, children }: SettingsLayoutProps) {
  return (
    <>
      <PageHeader title={messages.settings.pages[name]}>{acts}</PageHeader>
      <TabLinks
        name={messages.settings.name}
        links={NAMES.map((one) => ({
          key: one,
          label: messages.settings.pages[one],
          isHere: one === name,
          link: { to: `/settings/${one}` },
        }))}
      />
      {children}
    </>
  )
}
