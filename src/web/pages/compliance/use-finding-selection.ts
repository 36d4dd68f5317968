import { useState } from 'react'
import type { ComplianceFinding } from '#client/types.gen'

/** Identifies a finding within an organization. */
export const keyOf = ({ vendor, key, kind }: Pick<ComplianceFinding, 'vendor' | 'key' | 'kind'>): string =>
  JSON.stringify([vendor, key, kind])

/** Selected findings, which can be in several groups. */
export interface FindingSelection {
  findings: readonly ComplianceFinding[]
  has(finding: ComplianceFinding): boolean
  /** Selects or deselects findings. */
  set(findings: readonly ComplianceFinding[], isSelected: boolean): void
  clear(): void
}

/** Returns a selection that is kept while the filters change, so that findings of several filters can be selected. */
export function useFindingSelection(): FindingSelection {
  const [chosen, choose] = useState<ReadonlyMap<string, ComplianceFinding>>(new Map())
  return {
    findings: [...chosen.values()],
    has: (finding) => chosen.has(keyOf(finding)),
    set: (findings, isSelected) =>
      choose((before) => {
        const after = new Map(before)
        for (const finding of findings) {
          if (isSelected) after.set(keyOf(finding), finding)
          else after.delete(keyOf(finding))
        }
        return after
      }),
    clear: () => choose(new Map()),
  }
}
