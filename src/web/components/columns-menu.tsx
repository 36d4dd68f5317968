import { Button, Menu } from '@mantine/core'
import { useMemo } from 'react'
import { messages } from '../messages.ts'
import { preferences, usePreferences } from '../state/preferences.ts'
import type { Column } from './virtual-table.tsx'

/** True for columns that can't be hidden: the first one, the row's main cell, and actions. */
function isFixed<Row>({ isLink, isMain, isHeadHidden }: Column<Row>, index: number): boolean {
  return index === 0 || Boolean(isLink || isMain || isHeadHidden)
}

/** Returns the ids of the hidden columns: those chosen in this browser or, before a choice, the optional ones. */
function useHiddenColumns<Row>(table: string, columns: readonly Column<Row>[]): readonly string[] {
  const chosen = usePreferences().hiddenColumns[table]
  return useMemo(() => chosen ?? columns.filter(({ isOptional }) => isOptional).map(({ id }) => id), [chosen, columns])
}

/** Returns the columns of a table without those that are hidden in this browser. */
export function useShownColumns<Row>(table: string, columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const hidden = useHiddenColumns(table, columns)
  return useMemo(
    () => columns.filter((column, index) => isFixed(column, index) || !hidden.includes(column.id)),
    [columns, hidden],
  )
}

interface ColumnsMenuProps<Row> {
  /** Name of the table in the preferences. */
  table: string
  columns: readonly Column<Row>[]
}

/** A menu that shows and hides the columns of a table in this browser. */
export function ColumnsMenu<Row>({ table, columns }: ColumnsMenuProps<Row>) {
  const { hiddenColumns } = usePreferences()
  const hidden = useHiddenColumns(table, columns)
  const toggle = (id: string) => {
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
    preferences.change({ hiddenColumns: { ...hiddenColumns, [table]: next } })
  }
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <Button variant="default" visibleFrom="sm">
          {messages.components.columns}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map((column, index) => {
          if (isFixed(column, index)) return null
          return (
            <Menu.CheckboxItem key={column.id} checked={!hidden.includes(column.id)} onChange={() => toggle(column.id)}>
              {column.name ?? column.head}
            </Menu.CheckboxItem>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
