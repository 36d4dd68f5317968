import type { ReactNode } from 'react'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { messages } from '../../messages.ts'

type SettingsName = keyof typeof PAGE_PATHS.settings

const NAMES = Object.keys(PAGE_PATHS.settings) as SettingsName[]

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
          link: { to: PAGE_PATHS.settings[one] },
        }))}
      />
      {children}
    </>
  )
}
