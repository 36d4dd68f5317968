// Elysia reads this when it is loaded. Anywhere but in production its error messages quote what was sent, and a hostile
// body can make building such a message fail.
process.env.NODE_ENV = 'production'
