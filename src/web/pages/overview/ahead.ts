/**
 * Addresses of the first questions of the Overview of all projects, as `questions.ts` asks them. The script that asks them
 * ahead has no room for the client of the API.
 */
export const askedByOverview: readonly string[] = [
  '/v1/issues?status=open&limit=5',
  '/v1/domains?limit=200',
  '/v1/auto/signals?limit=200',
]
