import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listDomainsOptions } from '#client/@tanstack/react-query.gen'
import { FRESH } from '../../../api/queries.ts'
import { messages } from '../../../messages.ts'
import { Choices } from '../../../parts/choices.tsx'
import { domainsOf, withDomain, withDomains } from './draft.ts'
import type { PartProps } from './part.ts'

const MOST_DOMAINS = 200
/** The option "several domains", which shows a second field. */
const MANY = 'many'

/** Which domains are monitored: all, one or several. */
export function DomainField({ draft, change, errorOf }: Pick<PartProps, 'draft' | 'change' | 'errorOf'>) {
  const { data } = useQuery({ ...listDomainsOptions({ query: { limit: MOST_DOMAINS } }), staleTime: FRESH.insight })
  const ids = domainsOf(draft)
  const [wantsMany, wantMany] = useState(false)
  const isMany = wantsMany || ids.length > 1
  const known = data?.domains ?? []
  // Domains beyond the listed ones, and deleted ones, are shown by their id.
  const others = ids.filter((id) => data && !known.some((domain) => domain.id === id)).map((id) => ({ id, name: id }))
  const domains = [...known, ...others]
  const t = messages.alert
  return (
    <>
      <NativeSelect
        label={t.domain}
        value={isMany ? MANY : (ids[0] ?? '')}
        onChange={({ currentTarget: { value } }) => {
          wantMany(value === MANY)
          if (value !== MANY) change(withDomain(draft, value))
        }}
        error={isMany ? undefined : (errorOf('domainId') ?? errorOf('domainIds'))}
      >
        <option value="">{t.allDomains}</option>
        {domains.map(({ id, name }) => (
          <option key={id} value={id} translate="no">
            {name}
          </option>
        ))}
        <option value={MANY}>{t.severalDomains}</option>
      </NativeSelect>
      {isMany && (
        <Choices
          label={t.domains}
          isData
          options={domains.map(({ id, name }) => ({ value: id, label: name }))}
          chosen={ids}
          choose={(chosen) => change(withDomains(draft, chosen))}
          error={errorOf('domainId') ?? errorOf('domainIds')}
        />
      )}
    </>
  )
}
