import { Button, Menu } from '@mantine/core'
import type { QueryKey } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { downloadExport, type ExportedOperation, type ExportFormat } from '../api/download-export.ts'
import { messages } from '../messages.ts'

interface ExportMenuProps {
  /** The operation of the list or insight. */
  of: ExportedOperation
  /** The key of the query on the page, which contains the filters. */
  queryKey: QueryKey
  /** Start of the file name. */
  name: string
  /** Further items of the menu. */
  children?: ReactNode
}

/** A menu that downloads everything that the page's filters select. */
export function ExportMenu({ of, queryKey, name, children }: ExportMenuProps) {
  const [isBusy, setBusy] = useState(false)
  const t = messages.components
  const run = async (format: ExportFormat) => {
    setBusy(true)
    await downloadExport(of, queryKey, format, name)
    setBusy(false)
  }
  return (
    <Menu position="bottom-end" width={children ? 220 : 160}>
      <Menu.Target>
        <Button variant="default" loading={isBusy}>
          {t.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void run('csv')}>{t.exportFormats.csv}</Menu.Item>
        <Menu.Item onClick={() => void run('json')}>{t.exportFormats.json}</Menu.Item>
        {children}
      </Menu.Dropdown>
    </Menu>
  )
}
