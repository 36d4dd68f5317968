/** A measured figure and its limit. */
export interface Budget {
  name: string
  value: number
  sense: 'at least' | 'at most' | 'is'
  bound: number
  kept: boolean
}

export function budget(name: string, value: number, sense: Budget['sense'], bound: number): Budget {
  const kept = sense === 'at least' ? value >= bound : sense === 'at most' ? value <= bound : value === bound
  return { name, value, sense, bound, kept }
}

/** Returns a row of a Markdown table. */
export function lineOf({ name, value, sense, bound, kept }: Budget): string {
  const figure = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 0)
  return `| ${name} | ${figure} | ${sense} ${bound} | ${kept ? 'kept' : 'MISSED'} |`
}
