// Generated from the OpenAPI document; run `npm run gen` to refresh.

export interface paths {
    "/api/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the alerts, newest first. Those that are over are remembered, the newest 1000 of them. */
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alerts/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take note of an alert. It stays open until what it tells of is over; taking note again changes
         *     nothing.
         */
        post: operations["acknowledge_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analytics/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the newest trainings with what people look at first. */
        get: operations["list_analytics_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analytics/runs/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show all windows of a run, oldest first; at most the newest 5,000. */
        get: operations["show_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analytics/runs/{id}/iterations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the newest windows of a run, oldest first. */
        get: operations["list_iterations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analytics/runs/{id}/iterations/{iteration}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one window of a run with all that was measured in it. */
        get: operations["show_iteration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/analytics/runs/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a run with what people look at first, and how good each source of it is. */
        get: operations["show_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell what was done, and by whom. */
        get: operations["show_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the audit as a file. */
        get: operations["export_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check the audit and the control lines of all runs, as `cartridge audit verify` does. */
        get: operations["verify_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/cluster": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what is at work on this machine: the lab, and a supervisor and a trainer for every run. */
        get: operations["show_cluster"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the environments. */
        get: operations["list_environments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/environments/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Play one episode at random, as pictures. */
        get: operations["preview_environment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/evals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List evaluations of policies, of all runs, newest first; with `kind` matches, tournaments, or
         *     all of them. `run.name` says what each was asked to do.
         */
        get: operations["list_evaluations"];
        put?: never;
        /**
         * Let two players play each other, beside whatever trains. At a board every opening is played from
         *     both sides; in an environment both play the episodes of the same seeds. The match is a run of
         *     kind `eval`, which is started as soon as there is room, and its result counts for the ratings.
         */
        post: operations["create_match"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/evals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an evaluation of a policy, a match or a tournament: episode by episode, seed by seed, or
         *     pairing by pairing.
         */
        get: operations["show_contest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List experiments, newest first. */
        get: operations["list_experiments"];
        put?: never;
        /**
         * Make an experiment. It never changes: whoever wants another clones it. The same configuration
         *     may be kept under several names; the hash shows it.
         */
        post: operations["create_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an experiment with its configuration and its runs. */
        get: operations["show_experiment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put an experiment away: it is listed only when asked for. Its runs stay as they are. */
        post: operations["archive_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an experiment that differs from another. */
        post: operations["clone_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring an experiment back from the archive. */
        post: operations["unarchive_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/games": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the games and who can be played. */
        get: operations["list_games"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the runs that were made together, and what they come to. */
        get: operations["show_group"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/lab": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell what the lab is. */
        get: operations["show_lab"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/leaderboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what trainings have reached in an environment, best first; those that differ in nothing but
         *     their seed are one row. Their own evaluations count, and those that somebody asked for: of each
         *     training the newest of the checkpoint with the most steps.
         */
        get: operations["show_leaderboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say where other tools show a run or a request, by the templates in `lab.json`. */
        get: operations["show_links"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log a browser in by the token. */
        post: operations["log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log this browser out: its cookie is worth nothing any more, wherever it has been copied to. */
        post: operations["log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/matches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the matches that have ended, newest first, those of tournaments among them. They stay when
         *     their runs go, because the ratings are made of them.
         */
        get: operations["list_matches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell who asks, and what they may do. */
        get: operations["show_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List named models, by name. */
        get: operations["list_models"];
        put?: never;
        /**
         * Keep a checkpoint of a run, or an ONNX file that it has made, as the next version of a model.
         *     It is copied, so neither retention nor deleting the run takes it away.
         */
        post: operations["create_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a model with its versions. */
        get: operations["show_model"];
        put?: never;
        post?: never;
        /**
         * Put a model away: it is listed only when asked for. Its versions stay, because matches name
         *     them, and a new version brings it back.
         */
        delete: operations["remove_model"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move an alias of a model to a version. `best` is the one that is meant where nobody says which. */
        post: operations["alias_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a model back from the archive. */
        post: operations["unarchive_model"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/{version}/policy.onnx": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a version as an ONNX file for other programs, with ranges. */
        get: operations["get_model_policy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/models/{name}/{version}/weights.safetensors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download the weights of a version, with ranges; there are none where it came as an ONNX file. */
        get: operations["get_model_weights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your newest games, newest first. */
        get: operations["list_plays"];
        put?: never;
        /** Set up a game; an opponent that moves first has moved. */
        post: operations["new_play"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the newest sessions, newest first. */
        get: operations["list_sessions"];
        put?: never;
        /** Make a session in an environment. Nothing happens until it is played. */
        post: operations["new_session"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/environments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a session. */
        get: operations["show_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/environments/{id}/episodes/{episode}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The seed and the actions of an episode: what `cartridge trace` takes. */
        get: operations["show_actions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/environments/{id}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Play, as a WebSocket: the client sends `PlayCommand`s, the lab the newest `PlayFrame`. A second
         *     connection takes over from the first, which is closed with code 4001.
         */
        get: operations["play_live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/opponents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List who can be played at a game: built in, and learnt. */
        get: operations["list_opponents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a game as it stands: yours, or another's to look at. */
        get: operations["show_play"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/hint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask what perfect play, or else the strongest level, would do in your place. */
        post: operations["give_hint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/moves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a move; the answer holds the opponent's too. */
        post: operations["make_move"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/positions/{ply}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a game as it stood after some moves. It disturbs nothing. */
        get: operations["show_position"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/positions/{ply}/analysis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask what would have been best after some moves of a game that is over. */
        get: operations["analyse_position"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/positions/{ply}/thoughts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask what a network makes of a position of a game that is over. */
        get: operations["think_back"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Go through a game that is over: what every position was worth, and where most was given away.
         *     After ten seconds the rest is judged without a search.
         */
        get: operations["review"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/thoughts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask what a network makes of a position: the opponent's own, or else the best at the game. While
         *     the game goes on it counts as a hint.
         */
        post: operations["think"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/play/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take back your last move and the answer to it. */
        post: operations["take_back"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ratings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how strong the players of a game are, from all matches that were played: Bradley-Terry with
         *     error bars, and Elo and TrueSkill beside it.
         */
        get: operations["show_ratings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ratings/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show where the two players of each match stood after it, oldest first: Bradley-Terry fitted to
         *     all games up to then, Elo and TrueSkill.
         */
        get: operations["show_rating_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ratings/seeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show how a player did seed by seed, summed over all of its matches: whoever is good with a few
         *     openings or episodes only is lucky.
         */
        get: operations["show_seed_scores"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/retention/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove what is not to be kept now, or say what would go. The lab does the same once a minute. */
        post: operations["tidy_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first. */
        get: operations["list_runs"];
        put?: never;
        /**
         * Make a run, or one for each of several seeds, and start it as soon as there is room. With
         *     `dry_run`, say what would be made.
         */
        post: operations["start_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one run. */
        get: operations["show_run"];
        put?: never;
        post?: never;
        /** Move a run that is not at work to the trash, from which it can be brought back for a week. */
        delete: operations["delete_run"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a run away: it is listed only when asked for. */
        post: operations["archive_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what a run has made, and how much of it is kept. */
        get: operations["list_artifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/artifacts/{artifact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an artifact: a file as it is, with ranges, or a folder as a tar archive. */
        get: operations["get_artifact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a run to save a checkpoint and go on. */
        post: operations["checkpoint_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the configuration of a run. */
        get: operations["show_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the episodes of a run: the newest, or sorted by number, return, length or time. */
        get: operations["list_episodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/episodes/{n}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an episode step by step. */
        get: operations["show_episode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/episodes/{n}/curve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Draw what an episode earned: the return so far, and the smallest and largest reward, for as many
         *     stretches of steps as fit a screen.
         */
        get: operations["draw_episode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/episodes/{n}/film.mp4": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Film a stretch of an episode, at its own pace, as an MP4 file to keep. Films are made one after
         *     the other.
         */
        get: operations["film_episode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/episodes/{n}/xray": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** X-ray an episode: at each step what a policy would do, and what it expects. */
        get: operations["xray_episode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/eval/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the newest evaluation of a run that has a result, episode by episode: one that was asked
         *     for, or else the newest that its training made.
         */
        get: operations["show_latest_evaluation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/eval/latest.mp4": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the newest film of an evaluation of a run, with ranges: one that was asked for, or one that
         *     its training made (`--capture-video`).
         */
        get: operations["get_latest_video"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Measure the policy of a run, beside whatever it does: training is not paused. The evaluation is
         *     a run of its own, of kind `eval`, which is started as soon as there is room and can be watched,
         *     followed and stopped like any other; it holds a copy of the policy.
         */
        post: operations["evaluate_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/evaluations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the evaluations of a run, newest first. */
        get: operations["list_evaluations_of_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the event log of a run. Under `Accept: text/event-stream` it comes live: first a snapshot,
         *     then the messages of `/api/stream` that are about its events.
         */
        get: operations["list_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a run that goes on from a checkpoint of this one, with some settings changed. */
        post: operations["fork_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/frames": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch a run, as a WebSocket: the lab sends `LiveFrame`s, beginning with the newest; the viewer
         *     may send `FrameCommand`s, which change its own rate and nobody else's. With `format=jpeg` each
         *     frame is a text without the picture, followed by the picture. A foreign trainer that has sent no
         *     picture is told of by a `FrameNotice` instead, which no picture follows.
         */
        get: operations["watch_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/insights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say what the numbers of a run say: whether it has converged, is stuck, has collapsed, and what
         *     could be done, each with its evidence.
         */
        get: operations["show_insights"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the end of what a run's trainer printed. */
        get: operations["show_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the metrics of a run, for charts. */
        get: operations["show_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a run to stop stepping; its process stays. */
        post: operations["pause_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/pin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep a run, or one of its checkpoints, from whatever makes room. */
        post: operations["pin_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Play one episode with the newest checkpoint of a run, as pictures. */
        get: operations["preview_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report all of a run: configuration, charts, insights, evaluations, lineage, resources and who
         *     changed what. The page of HTML needs nothing else and can be kept as a file.
         */
        get: operations["show_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what a run has used of the machine over time, for charts. */
        get: operations["show_resources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a run back from the trash. */
        post: operations["restore_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a run go on: one that is paused steps again, one that ended before its last step gets a new
         *     attempt from its last checkpoint, as soon as there is room.
         */
        post: operations["resume_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run that waits in the queue at once, past those before it and past the lab's limits. */
        post: operations["start_queued_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a run to save a checkpoint and end. */
        post: operations["stop_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the metrics of a run, as server-sent events. The first message is a snapshot with the
         *     newest rows; with `Last-Event-ID` the stream goes on after that number.
         */
        get: operations["stream_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/tensorboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show a run in TensorBoard, which is started on the machine of the lab unless it is at work for
         *     this run. It must be installed there (`pip install tensorboard`), listens at the loopback address
         *     alone, and ends with the lab or when nobody has looked at it for half an hour.
         */
        post: operations["open_tensorboard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/terminate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a run's processes at once, without a checkpoint. */
        post: operations["terminate_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/tune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change a setting of a run while it trains, after a checkpoint. The answer says what it was and
         *     what it may be; the event log tells when it took effect.
         */
        post: operations["tune_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a run back from the archive. */
        post: operations["unarchive_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{id}/unpin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let go of a run, or of one of its checkpoints. */
        post: operations["unpin_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the schemas of configurations: for any algorithm, one algorithm, one environment, or both,
         *     and the presets.
         */
        get: operations["list_schemas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/schemas/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a schema: JSON Schema 2020-12, with what forms need beside it. `x-unit`, `x-step` and
         *     `x-scale` are for sliders, `x-aliases` are other names that are understood, and `x-tunable` is
         *     false or the bounds while a run trains. `presets` gives the presets and what they change.
         */
        get: operations["show_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the lab's settings. */
        get: operations["show_settings"];
        /**
         * Change some of the lab's settings. They hold at once; whom the lab answers and who is told of
         *     alerts is for the file alone.
         */
        put: operations["change_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show how much room things take, and the knobs that say what is kept. */
        get: operations["show_storage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream everything that happens, as server-sent events: `event` is the message's type, `data`
         *     the message, `id` its number. The first message is a snapshot; with `Last-Event-ID` the stream
         *     goes on after that number, without gap or duplicate. A reader passes over types that it does not
         *     know. When nothing was said for 15 seconds, `Alive` is.
         */
        get: operations["stream_lab"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a ticket for one WebSocket or `EventSource`, with what the caller may do. Good once, for
         *     this address, within 30 seconds.
         */
        post: operations["make_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens. */
        get: operations["list_tokens"];
        put?: never;
        /** Make a token. Its secret is in the answer, and nowhere else. */
        post: operations["make_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take a token back. Browsers that it logged in are out; live streams that are open stay open. */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tournaments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let several players play each other, beside whatever trains. The tournament is a run of kind
         *     `eval`, which is started as soon as there is room; each pairing counts for the ratings.
         */
        post: operations["create_tournament"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trainers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the trainers that can be started by name, with what they can be told. */
        get: operations["list_trainers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trainers/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run of a named trainer as soon as there is room, as `cartridge exec` does. */
        post: operations["start_trainer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trash": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs in the trash. */
        get: operations["list_trash"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wandb/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the newest runs of the W&B project that `lab.json` names, with what people look at first. */
        get: operations["list_wandb_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wandb/runs/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show all windows of a run of the W&B project, oldest first; at most the newest 5,000. */
        get: operations["show_wandb_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wandb/runs/{id}/iterations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the newest windows of a run of the W&B project, oldest first. */
        get: operations["list_wandb_iterations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wandb/runs/{id}/iterations/{iteration}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one window of a run of the W&B project with all that was measured in it. */
        get: operations["show_wandb_iteration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/wandb/runs/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a run of the W&B project with its summary and its configuration. */
        get: operations["show_wandb_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream everything that happens, as a WebSocket: the messages of `/api/stream`, each with its
         *     number as `id`. `last_event_id` goes on after that number.
         */
        get: operations["stream_socket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say that the lab is there. Needs no token. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Log a browser in by the one-time code of a printed URL; without a code, show the login page. */
        get: operations["follow_login_link"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tell how the lab is doing, for Prometheus. Needs the token of a viewer. */
        get: operations["expose_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Say whether the lab can work: its index answers, its disk takes writes, and runs are being taken
         *     in. Needs no token.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An index into the fixed list of actions of a game or environment. */
        Action: number;
        /**
         * @description What an action is.
         * @enum {string}
         */
        ActionSpaceType: "discrete" | "continuous";
        /** @description What a network makes of an action, for who must move. */
        ActionThought: {
            /** @description The action. */
            action: number;
            /** @description The action for people. */
            name: string;
            /**
             * Format: float
             * @description Its probability by the network alone (P).
             */
            prior: number;
            /**
             * Format: float
             * @description Its exact score for who must move, where the search has proved it.
             */
            proven: number | null;
            /**
             * Format: float
             * @description Its mean score for who must move, −1 to 1 (Q); none where it was not visited.
             */
            q: number | null;
            /**
             * Format: float
             * @description What the search adds because it was tried less than its prior asks for (U); none without a
             *     search.
             */
            u: number | null;
            /**
             * Format: int32
             * @description How many simulations began with it (N).
             */
            visits: number;
        };
        /**
         * @description What a run is busy with.
         * @enum {string}
         */
        Activity: "training" | "evaluating" | "idle";
        /** @description What the figures of several runs come to. */
        Aggregate: {
            /**
             * Format: double
             * @description The mean without the lowest and the highest quarter.
             */
            iqm: number;
            /** @description The 95% interval of the IQM, by bootstrap; none for a single figure. */
            iqm_ci95: number[] | null;
            /**
             * Format: double
             * @description The greatest.
             */
            max: number;
            /**
             * Format: double
             * @description Their mean.
             */
            mean: number;
            /** @description The 95% interval of the mean, by bootstrap; none for a single figure. */
            mean_ci95: number[] | null;
            /**
             * Format: double
             * @description The least.
             */
            min: number;
            /** @description How many runs have a figure. */
            n: number;
            /**
             * Format: double
             * @description Their standard deviation; 0 for a single one.
             */
            std: number;
        };
        /** @description What a person should know of. */
        Alert: {
            /** @description When somebody took note. */
            acknowledged_at: string | null;
            /** @description Who took note. */
            acknowledged_by: string | null;
            /**
             * @description Its name.
             * @example al-17
             */
            id: string;
            /** @description What it is about. */
            kind: components["schemas"]["AlertKind"];
            /** @description The numbers behind it. */
            numbers: {
                [key: string]: number;
            };
            /** @description When it was over. */
            resolved_at: string | null;
            /** @description Why it was over. */
            resolved_reason: string | null;
            /** @description The run; none where it is about the lab. */
            run_id: string | null;
            /** @description What is wrong. */
            sentence: string;
            /** @description Where it is in its life. */
            state: components["schemas"]["AlertState"];
            /** @description What can be done. */
            suggestion: string;
            /** @description When it fired (RFC 3339). */
            triggered_at: string;
        };
        /**
         * @description What an alert is about.
         * @enum {string}
         */
        AlertKind: "heartbeat_stale" | "not_finite" | "reward_collapse" | "run_failed" | "api_latency" | "disk";
        /** @description When alerts fire. */
        AlertLimits: {
            /**
             * Format: double
             * @description Milliseconds that 19 in 20 answers must stay below, over a minute; none for no alert.
             */
            api_p95_ms: number | null;
            /**
             * Format: int64
             * @description Bytes that must be free for the data folder; none for no alert.
             */
            disk_free_bytes: number | null;
            /** @description Whether another program is told; which one is for the file alone. */
            webhook: boolean;
        };
        /** @description Alerts of the lab and of its runs. */
        AlertList: {
            /** @description Alerts that somebody knows of and that are not over, listed or not. */
            acknowledged: number;
            /** @description Newest first. */
            alerts: components["schemas"]["Alert"][];
            /** @description Alerts that nobody has taken note of, listed or not. */
            firing: number;
        };
        /**
         * @description Where an alert is in its life.
         * @enum {string}
         */
        AlertState: "firing" | "acknowledged" | "resolved";
        /** @description What perfect play, or the strongest level where nobody is perfect, would have done. */
        Analysis: {
            best: components["schemas"]["BestMove"] | null;
            /**
             * @description Whether the value is the truth: −1 a loss, 0 a draw, 1 a win against best play. Otherwise
             *     it is a rule of thumb, and no probability.
             */
            is_known: boolean;
            /**
             * Format: int32
             * @description The position that it is about: moves so far.
             */
            ply: number;
            /** @description Who had to move. */
            turn: components["schemas"]["Turn"];
            /**
             * Format: float
             * @description How good the position was for you, −1 to 1.
             */
            value: number;
        };
        /** @description One window of a run, with all that was measured in it. */
        AnalyticsIteration: {
            /**
             * Format: int64
             * @description Its first step.
             */
            from_step: number;
            /** @description Everything that was measured in it. */
            metrics: components["schemas"]["IterationMetric"][];
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Its last step.
             */
            to_step: number;
            /**
             * Format: int64
             * @description Number of the window, from 1.
             */
            window_id: number;
        };
        /** @description The newest trainings. */
        AnalyticsRuns: {
            /** @description Newest first. */
            runs: components["schemas"]["AnalyticsSummary"][];
        };
        /** @description A run in a line. */
        AnalyticsSummary: {
            /** @description The algorithm, where it is known. */
            algo: string | null;
            /** @description How good each source of figures is. */
            completeness: components["schemas"]["Completeness"][];
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Id of the environment. */
            env_id: string;
            /**
             * Format: int64
             * @description Episodes that have ended.
             */
            episodes: number;
            /** @description What people look at first. */
            kpis: components["schemas"]["Kpi"][];
            /** @description Its name for people. */
            name: string;
            /** @description The run. */
            run_id: string;
            /** @description Where it is in its life. */
            state: components["schemas"]["RunState"];
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number;
            /**
             * Format: int64
             * @description The newest window, which is its iteration; 0 before the first step.
             */
            window_id: number;
            /**
             * Format: int64
             * @description Environment steps of a window.
             */
            window_steps: number;
        };
        /** @description One window of a run. */
        AnalyticsWindow: {
            /** @description What was measured in it, by the names of the KPIs. */
            figures: {
                [key: string]: components["schemas"]["Figures"];
            };
            /**
             * Format: int64
             * @description Its first step.
             */
            from_step: number;
            /**
             * Format: int64
             * @description Its last step.
             */
            to_step: number;
            /**
             * Format: int64
             * @description Its number, from 1: the key of the iteration.
             */
            window_id: number;
        };
        /** @description The windows of a run. */
        AnalyticsWindows: {
            /** @description The run. */
            run_id: string;
            /** @description Whether means rest on the least and the greatest of stretches, because there is so much. */
            sampled: boolean;
            /** @description Whether there are older ones that are not told. */
            truncated: boolean;
            /**
             * Format: int64
             * @description Environment steps of a window.
             */
            window_steps: number;
            /** @description Those in which something was measured, oldest first. */
            windows: components["schemas"]["AnalyticsWindow"][];
        };
        /** @description An [`EnvAction`] that owns its numbers, to be kept, drawn or sent: `3` or `[0.5, -1.0]`. */
        AnyAction: components["schemas"]["Action"] | number[];
        /**
         * @description What an argument takes.
         * @enum {string}
         */
        ArgumentType: "integer" | "number" | "string" | "boolean" | "choice";
        /** @description Something that a run has made. */
        Artifact: {
            /**
             * Format: double
             * @description When it was first seen, in Unix seconds.
             */
            created_at: number;
            /** @description Its name in the run. */
            id: string;
            /** @description Whether it is a folder, which is served as a tar archive. */
            is_folder: boolean;
            /** @description What it is. */
            kind: components["schemas"]["ArtifactKind"];
            /** @description Kept for good, because of the step that it belongs to. */
            milestone: boolean;
            /**
             * Format: int64
             * @description Files in it, or 1.
             */
            n_files: number;
            /** @description Where it is, below the run's folder or its working folder; to be shown, not to be asked for. */
            path: string;
            /** @description Kept for good, because somebody said so. */
            pinned: boolean;
            /** @description Its hash; none while it grows. */
            sha256: string | null;
            /** @description In a working folder that others may use too: shown, and never removed. */
            shared: boolean;
            /**
             * Format: int64
             * @description Its bytes.
             */
            size_bytes: number;
            /**
             * Format: int64
             * @description Environment steps of a checkpoint.
             */
            step: number | null;
        };
        /**
         * @description What an artifact is.
         * @enum {string}
         */
        ArtifactKind: "video" | "tensorboard" | "wandb" | "checkpoint" | "eval" | "log" | "episodes" | "other";
        /** @description What a run has made. */
        Artifacts: {
            /** @description What is there, by kind and age. */
            artifacts: components["schemas"]["Artifact"][];
            /** @description Whether the run has ended and everything was looked at. */
            complete: boolean;
            /** @description How many of each kind are kept. */
            kept: components["schemas"]["Kept"][];
            /** @description The run. */
            run_id: string;
            /** @description Where the run is on W&B, as its trainer said. */
            wandb_url: string | null;
        };
        /** @description What was done, and by whom. */
        Audit: {
            /**
             * Format: int64
             * @description What to give as `before` for the lines before these, if there may be some.
             */
            before: number | null;
            /** @description Oldest first. */
            lines: components["schemas"]["AuditEntry"][];
        };
        /** @description Whether the records are as they were written. */
        AuditCheck: {
            /** @description The first bad line of each file that has one; the audit first, then runs by name. */
            bad: components["schemas"]["BadLine"][];
            /** @description Whether all of them are. */
            intact: boolean;
            /**
             * Format: int64
             * @description Lines of the audit and of all control files that are as they were written.
             */
            lines: number;
        };
        /** @description One thing that was done. */
        AuditEntry: {
            /** @description When (RFC 3339). */
            at: string;
            /** @description Hash of the line, which the next one carries. */
            hash: string;
            /** @description What is there now. */
            new: unknown;
            /** @description What was there before. */
            old: unknown;
            /** @description The key that the client gave the request. */
            request: string | null;
            /** @description The number of the request, as in the lab's log. */
            request_id: string | null;
            /** @description The role of their token; whoever worked on the folder itself needs none. */
            role: string | null;
            /**
             * Format: int64
             * @description Number of the line in the audit, from 1.
             */
            seq: number;
            /** @description What it was done to: mostly a run. */
            target: string;
            /**
             * @description What was done.
             * @example tune
             */
            what: string;
            /** @description Who did it: the name of their token, or of the user at the command line. */
            who: string;
        };
        /** @description The audit as a file. */
        AuditExport: {
            /** @description Oldest first. */
            lines: components["schemas"]["AuditEntry"][];
        };
        /** @description A line that is not as it was written. */
        BadLine: {
            /**
             * @description The file, below the data folder.
             * @example audit.jsonl
             */
            file: string;
            /**
             * Format: int64
             * @description Number of the line in it, from 1.
             */
            line: number;
            /** @description What is wrong with it. */
            reason: string;
        };
        /** @description A move that would have been best. */
        BestMove: {
            /** @description The action. */
            action: number;
            /** @description Id of who says so. */
            by: string;
            /** @description Who says so, for people. */
            by_name: string;
            /** @description The action for people. */
            name: string;
            /** @description What it leads to for who plays it, in a sentence. */
            text: string;
        };
        /** @description The games of one seed. */
        Bucket: {
            /** @description The random moves that its games began with. */
            opening: number[];
            /** @description In an environment, the returns of A and B. */
            returns: number[] | null;
            /** @description The score of A in each game; with both sides, first the one in which A moved first. */
            scores: number[];
            /**
             * Format: int64
             * @description The seed of the opening; in an environment what the episode was reset with.
             */
            seed: number;
        };
        /**
         * @description Something that can be asked of a run.
         * @enum {string}
         */
        Capability: "start" | "stop" | "pause" | "resume" | "terminate" | "checkpoint" | "tune" | "fork" | "delete";
        /** @description A setting that differs. */
        Change: {
            /** @description What it is. */
            new: unknown;
            /** @description What it was. */
            old: unknown;
            /** @description Its full path. */
            path: string;
        };
        /** @description One thing without which the lab cannot work. */
        Check: {
            /** @description `index`, `disk` or `ticker`. */
            name: string;
            /** @description Whether it is as it should be. */
            ok: boolean;
            /** @description What is wrong, and what to do. */
            reason: string | null;
        };
        /** @description What a clone has otherwise than its original. */
        CloneTemplate: {
            /** @description Settings that are changed, as in `config` of a new experiment. */
            changes?: Record<string, never>;
            /** @description What it is for; without it that of the original. */
            description?: string;
            /** @description Its name for people; without it that of the original with "(copy)". */
            name?: string;
            /** @description Another preset. */
            preset?: string | null;
        };
        /** @description What is at work on this machine. */
        Cluster: {
            /** @description CPU cores of the machine. */
            cores: number;
            /** @description What the runs at work cost. */
            cost: components["schemas"]["Cost"];
            /**
             * Format: int64
             * @description Bytes of that disk.
             */
            disk_bytes: number | null;
            /**
             * Format: int64
             * @description Bytes that are free for the data folder.
             */
            disk_free_bytes: number | null;
            /** @description How many runs are where in their lives. */
            jobs: components["schemas"]["Jobs"];
            /**
             * Format: int64
             * @description Bytes of its memory.
             */
            memory_bytes: number | null;
            /**
             * Format: int64
             * @description Bytes of it that programs could still get.
             */
            memory_free_bytes: number | null;
            /** @description The lab first, then supervisor and trainer of every run at work, at most 200 runs. */
            pods: components["schemas"]["Pod"][];
            /**
             * Format: int64
             * @description Runs that wait for their turn.
             */
            queue_depth: number;
        };
        /** @description How good a source of figures is. */
        Completeness: {
            /** @description Why, where it is not as it should be. */
            detail: string | null;
            /** @description `metrics`, `evaluations`, `episode_metrics` or `heartbeat`. */
            source: string;
            /** @description `ok`, `stale`, `missing` or `error`. */
            state: string;
        };
        /** @description An evaluation of a policy, a match or a tournament, with what it found so far. */
        Contest: {
            evaluation: components["schemas"]["EvaluationJob"] | null;
            match: components["schemas"]["MatchDetail"] | null;
            /** @description The run that it is. */
            run: components["schemas"]["Run"];
            tournament: components["schemas"]["TournamentDetail"] | null;
        };
        /** @description Keys that do the same. */
        Control: {
            /** @description What they do. */
            effect: components["schemas"]["Effect"];
            /** @description The keys as browsers name them, letters in lower case. */
            keys: string[];
            /** @description What they do, for people. */
            label: string;
        };
        /** @description The keys by which a person acts. */
        Controls: {
            /** @description What has happened when the task itself ends; empty where it never does. */
            ending: string;
            /** @description What is done while no key is held. */
            idle: components["schemas"]["Idle"];
            /** @description What the keys do. */
            keys: components["schemas"]["Control"][];
        };
        /** @description What the runs at work cost, as an estimate from the prices in `lab.json`. */
        Cost: {
            /** @description The currency, as `lab.json` names it. */
            currency: string;
            /**
             * Format: double
             * @description An hour of what is used now.
             */
            per_hour: number;
            /** @description Whether there are prices at all. */
            priced: boolean;
            /**
             * Format: double
             * @description What the runs at work have come to since they were started, at what they use now.
             */
            so_far: number;
        };
        /** @description A run that was made, or the first of several. */
        CreatedRun: components["schemas"]["Run"] & {
            /** @description What the client should know: that the id it gave is out of date, or that batches are uneven. */
            notice: string | null;
            /** @description All that were made. */
            run_ids: string[];
        };
        /** @description How the returns of two players in the same episodes compare. */
        Difference: {
            /** @description The 95% interval of their mean. */
            ci95: number[];
            /**
             * Format: double
             * @description Mean of A's return less B's.
             */
            mean: number;
            /**
             * Format: double
             * @description Mean return of A.
             */
            mean_a: number;
            /**
             * Format: double
             * @description Mean return of B.
             */
            mean_b: number;
            /**
             * Format: double
             * @description Standard deviation of the differences.
             */
            std: number;
        };
        /** @description What a key does while it is held. */
        Effect: {
            /** @description Takes this action of a list. Of several keys the one that was pressed last counts. */
            action: number;
        } | {
            /** @description Adds to one number of a continuous action. */
            add: {
                /** @description Which number. */
                index: number;
                /**
                 * Format: float
                 * @description How much.
                 */
                value: number;
            };
        };
        /** @description A line of the event log. */
        Entry: {
            /** @description How serious it is. */
            level: components["schemas"]["EventLevel"];
            /** @description What happened, in a sentence. */
            message: string;
            /**
             * Format: int64
             * @description Its number in the run, from 1.
             */
            seq: number;
            /**
             * Format: int64
             * @description Environment steps so far, where they are known.
             */
            step: number | null;
            /**
             * Format: double
             * @description Unix seconds.
             */
            t: number;
            /** @description What happened, as a word. */
            type: string;
        };
        /** @description Something that an agent can be trained on. */
        Environment: {
            /** @description Lowest and highest value of each number of a continuous action. */
            action_bounds: number[][];
            /** @description What each action, or each number of one, does. */
            action_names: string[];
            /** @description What an action is. */
            action_space_type: components["schemas"]["ActionSpaceType"];
            /** @description The algorithms that can learn it. */
            algorithms: string[];
            controls: components["schemas"]["Controls"] | null;
            /**
             * Format: int32
             * @description Its own pace.
             */
            frames_per_second: number;
            /** @description Gymnasium's id, or that of a game. */
            id: string;
            /** @description Whether it is a game of two, which is learnt by self-play. */
            is_game: boolean;
            /**
             * Format: int32
             * @description Steps after which an episode is cut short.
             */
            max_steps: number;
            /** @description How many actions there are, or numbers in a continuous one. */
            n_actions: number;
            /** @description For people. */
            name: string;
            /** @description Shape of an observation. */
            obs_space_dims: number[];
            /** @description What each number of an observation is. */
            observation_names: string[];
            /** @description The options that a run on it may have, with their defaults. */
            options: Record<string, never>;
            /**
             * Format: double
             * @description The mean return that counts as solved.
             */
            threshold: number | null;
        };
        /** @description The environments. */
        EnvironmentList: {
            /** @description All of them. */
            environments: components["schemas"]["Environment"][];
        };
        /** @description An episode that has ended. */
        Episode: {
            /**
             * Format: int32
             * @description Which start of the trainer played it.
             */
            attempt?: number | null;
            /**
             * Format: int64
             * @description Steps of the newest checkpoint when it ended.
             */
            checkpoint_step?: number | null;
            /**
             * @description Whether what was recorded of it is damaged, so that it cannot be seen again to its end. Told
             *     in lists of episodes only.
             */
            damaged?: boolean;
            /**
             * Format: int64
             * @description Its number in the run, from 1.
             */
            episode: number;
            /** @description What a foreign trainer calls it. */
            episode_id?: string | null;
            /**
             * Format: int32
             * @description The environment that played it, of those side by side.
             */
            lane?: number | null;
            /**
             * Format: int32
             * @description Its steps.
             */
            length: number;
            /**
             * Format: double
             * @description Sum of its rewards; none where it was not finite.
             */
            reward: number | null;
            /**
             * Format: int64
             * @description The number that was given to `reset`, where it is known.
             */
            seed: number | null;
            /** @description Whether the task itself ended; otherwise the episode was cut short. */
            terminated: boolean;
            /**
             * Format: double
             * @description When it ended, in Unix seconds.
             */
            timestamp?: number | null;
            /**
             * Format: int64
             * @description Environment steps of the run at its end.
             */
            timestep: number;
            /** @description Whether its time ended. This and what follows are in lists of recorded episodes only. */
            truncated?: boolean | null;
        };
        /** @description What an episode earned, in few enough points to be drawn: columns with one element each. */
        EpisodeCurve: {
            /**
             * Format: int64
             * @description Number of the episode.
             */
            episode: number;
            /** @description The largest reward of each stretch; none where none is finite. */
            high: (number | null)[];
            /** @description The smallest reward of each stretch; none where none is finite. */
            low: (number | null)[];
            /**
             * Format: int64
             * @description Steps of the episode.
             */
            n_steps: number;
            /** @description The run. */
            run_id: string;
            /**
             * @description The last step of each stretch; stretches are of equal length, but for the last, which ends
             *     with step `n_steps`.
             */
            step: number[];
            /** @description The return after that step. Rewards that are not finite do not count. */
            total: number[];
        };
        /** @description Episodes of a run. */
        EpisodeList: {
            /**
             * Format: int64
             * @description Episodes of the whole run of which what was recorded is damaged or gone: they are missing in
             *     lists, or listed without being replayable to the end.
             */
            damaged: number;
            /** @description The episodes: the newest, oldest first, or as they were asked for. */
            episodes: components["schemas"]["Episode"][];
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Episodes that have ended in all, or those of the seed that was asked for.
             */
            total: number;
        };
        /** @description A moment of an episode. */
        EpisodeMoment: {
            /** @description What was done: an index, a list of numbers, or what a foreign trainer said. */
            action?: unknown;
            /** @description The actions that are legal next, where not all always are. */
            legal?: number[] | null;
            /** @description What is seen: a list of numbers, or what a foreign trainer said. */
            observation?: unknown;
            /**
             * @description The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
             *     who cannot see the board; only of games.
             */
            pieces?: number[][] | null;
            /**
             * Format: double
             * @description What the action earned; none at the start, or where it was not finite.
             */
            reward: number | null;
            scene?: components["schemas"]["Scene"] | null;
            /**
             * Format: int64
             * @description Actions before it: 0 is the start.
             */
            step: number;
            /** @description Whether the task itself has ended. */
            terminated: boolean;
            /**
             * Format: double
             * @description Unix seconds, where a foreign trainer said so.
             */
            timestamp?: number | null;
            /** @description Whether the time limit was reached. */
            truncated: boolean;
        };
        /** @description An episode, step by step: with the seed and the actions, Gymnasium repeats it. */
        EpisodeReplay: {
            /** @description Whether its steps are computed again from its seed and actions, rather than stored. */
            computed: boolean;
            /** @description Id of the environment. */
            env_id: string;
            /** @description The episode in figures. */
            episode: components["schemas"]["Episode"];
            /**
             * Format: int32
             * @description Steps per second at its own pace, where the environment is ours.
             */
            frames_per_second: number | null;
            /**
             * @description Whether computing it gave the return, the length and the end that were recorded; if not,
             *     the environment has changed since.
             */
            matches: boolean;
            /**
             * Format: int64
             * @description Steps that it has here.
             */
            n_steps: number;
            /** @description Options of the environment. */
            options: Record<string, never>;
            /** @description The run. */
            run_id: string;
            /** @description The moments that were asked for, in order. */
            steps: components["schemas"]["EpisodeMoment"][];
        };
        /** @description An episode, with what was measured when it ended. */
        EpisodeRow: {
            /**
             * Format: int64
             * @description Its number in the run, from 1.
             */
            episode: number;
            /**
             * Format: double
             * @description Environment steps per second at that time.
             */
            fps: number | null;
            /**
             * Format: int32
             * @description Its steps.
             */
            length: number;
            /**
             * Format: double
             * @description Loss of the update in which it ended.
             */
            loss: number | null;
            /**
             * Format: double
             * @description Sum of its rewards; none where it was not finite.
             */
            reward: number | null;
            /**
             * Format: double
             * @description When the update in which it ended was recorded, in Unix seconds.
             */
            timestamp: number;
            /**
             * Format: int64
             * @description Environment steps of the run at its end.
             */
            timestep: number;
        };
        /** @description What a policy makes of a part of an episode. */
        EpisodeXray: {
            /**
             * Format: int64
             * @description Number of the episode.
             */
            episode: number;
            /**
             * @description Whether it is the very policy that played. Of a training it is not: then it is the newest
             *     checkpoint at the episode's end that is still there, or else the oldest that there is.
             */
            exact: boolean;
            /** @description What is told of actions. */
            kind: components["schemas"]["XrayKind"];
            /**
             * @description Which policy was asked: `policy.safetensors` of an evaluation, or a checkpoint's folder such
             *     as `step_000200000`.
             */
            policy: string;
            /**
             * Format: int64
             * @description Environment steps of that policy, where they are known.
             */
            policy_step: number | null;
            /** @description The run. */
            run_id: string;
            /** @description What it makes of each step, in order. */
            steps: components["schemas"]["XrayStep"][];
        };
        /** @description Every episode of an evaluation, as columns. */
        EvaluatedEpisodes: {
            /** @description The steps of each. */
            lengths: number[];
            /**
             * Format: int32
             * @description In how many the task itself ended.
             */
            n_terminated: number;
            /**
             * Format: int32
             * @description How many were cut short.
             */
            n_truncated: number;
            /** @description The return of each. */
            returns: number[];
            /** @description What each was reset with: `env.reset(seed=...)` begins the same in Gymnasium. */
            seeds: number[];
            /**
             * Format: double
             * @description Standard deviation of the lengths.
             */
            std_length: number;
            /** @description Whether the task itself ended in each; otherwise its time did. */
            terminated: boolean[];
        };
        /** @description How well a policy did over some episodes. */
        Evaluation: {
            /** @description 95% confidence interval of the mean. */
            ci95: number[];
            /**
             * Format: int32
             * @description How many episodes were played.
             */
            episodes: number;
            /**
             * Format: double
             * @description Mean return.
             */
            mean: number;
            /**
             * Format: double
             * @description Mean length in steps.
             */
            mean_length: number;
            /** @description Mean of what the environment measures itself, by name. */
            metrics: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description Standard deviation of the returns.
             */
            std: number;
            /**
             * Format: int64
             * @description Environment steps of the policy.
             */
            step: number;
        };
        /** @description What an evaluation of a run has logged. */
        EvaluationEntry: {
            /** @description The line in its event log. */
            entry: components["schemas"]["Entry"];
            /** @description The evaluation. */
            run_id: string;
        };
        /** @description An evaluation, and what it found. */
        EvaluationJob: {
            /**
             * @description Folder of the checkpoint that is measured; none where it is a file from elsewhere, or
             *     whatever the training had learnt by then.
             */
            checkpoint: string | null;
            /** @description Whether the policy does what it holds best. */
            deterministic: boolean;
            episodes: components["schemas"]["EvaluatedEpisodes"] | null;
            /**
             * @description What it is of. How a match or tournament went is in `/api/evals/{id}`, and the figures of a
             *     match in `run.match_result`.
             */
            kind: components["schemas"]["EvaluationKind"];
            result: components["schemas"]["Evaluation"] | null;
            /** @description The run that is the evaluation; a training that measured itself is its own. */
            run: components["schemas"]["Run"];
            video: components["schemas"]["Artifact"] | null;
        };
        /**
         * @description What an evaluation is of.
         * @enum {string}
         */
        EvaluationKind: "policy" | "match" | "tournament";
        /** @description The evaluations of a run. */
        EvaluationList: {
            /** @description The newest, newest first. */
            evaluations: components["schemas"]["EvaluationJob"][];
            /**
             * Format: int64
             * @description How many of their films are kept.
             */
            videos_kept: number;
            /** @description The same in words: `2 of 5 kept`. */
            videos_text: string;
            /**
             * Format: int64
             * @description How many films there ever were.
             */
            videos_total: number;
        };
        /** @description A page of evaluations. */
        EvaluationPage: {
            /** @description The evaluations, newest first. */
            evaluations: components["schemas"]["EvaluationJob"][];
            /** @description Ask with this for the next page; none after the last. */
            next_cursor: string | null;
        };
        /**
         * @description How serious an event is.
         * @enum {string}
         */
        EventLevel: "info" | "warning" | "error";
        /** @description The newest events of a run. */
        EventLog: {
            /**
             * @description What its newest evaluations have logged, oldest first: they are runs of their own, and
             *     their lines belong between these by their times.
             */
            evaluations: components["schemas"]["EvaluationEntry"][];
            /** @description The events, oldest first. */
            events: components["schemas"]["Entry"][];
            /** @description The run. */
            run_id: string;
        };
        /** @description The first message of the live event log of a run; the others are those of `/api/stream`. */
        EventMessage: {
            /** @description The newest events, oldest first. */
            events: components["schemas"]["Entry"][];
            /** @description Whether the reader's number was not ours, so that it must forget what it knew. */
            reset: boolean;
            /** @description The run. */
            run_id: string;
            /** @enum {string} */
            type: "Snapshot";
        };
        /** @description What an insight rests on: where to look, and what is seen there. */
        Evidence: {
            /**
             * Format: int64
             * @description From this step on.
             */
            from_step: number;
            /** @description Its name for people. */
            label: string;
            /**
             * @description The metric whose chart shows it.
             * @example rollout/ep_rew_mean
             */
            metric: string;
            /** @description The numbers, by name. */
            numbers: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Up to this step.
             */
            to_step: number;
        };
        /** @description A template of runs, which never changes. */
        Experiment: {
            /** @description The algorithm. */
            algorithm: string;
            /** @description Whether it was put away. */
            archived: boolean;
            /** @description The experiment that it was cloned from. */
            cloned_from: string | null;
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /** @description What it is for. */
            description: string;
            /** @description Id of the environment. */
            env_id: string;
            /**
             * @description Its name, made by the lab.
             * @example e-7f3k2m
             */
            id: string;
            /**
             * Format: int64
             * @description How many runs were made from it and are still there.
             */
            n_runs: number;
            /** @description Its name for people. */
            name: string;
            /** @description The settings that runs of it may change. */
            overrides_whitelist: string[];
            /** @description The preset that it was laid over. */
            preset: string | null;
            /** @description SHA-256 of the configuration: two with the same hash train the same. */
            sha256: string;
        };
        /** @description A template with its configuration and its runs. */
        ExperimentDetail: components["schemas"]["Experiment"] & {
            /** @description What that came to: every setting. */
            config: Record<string, never>;
            /** @description The configuration as it was given. */
            given: Record<string, never>;
            /** @description Its newest runs, at most 100. */
            runs: components["schemas"]["Run"][];
        };
        /** @description A page of experiments. */
        ExperimentPage: {
            /** @description The experiments, newest first. */
            experiments: components["schemas"]["Experiment"][];
            /** @description Ask with this as `after` for the next page; none after the last. */
            next: string | null;
        };
        /** @description Why a run failed. */
        Failure: {
            /**
             * Format: int32
             * @description Exit code of the trainer.
             */
            exit_code: number | null;
            /** @description The last lines that it printed. */
            log: string[];
            /** @description In a sentence. */
            message: string;
            /**
             * Format: int32
             * @description Signal that ended the trainer.
             */
            signal: number | null;
        };
        /** @description One message of the live feed. */
        FeedMessage: {
            /** @description Whether the reader's number was not ours, so that it must forget what it knew. */
            reset: boolean;
            /** @description The newest runs. */
            runs: components["schemas"]["Run"][];
            /** @enum {string} */
            type: "Snapshot";
        } | {
            /** @description The episodes that ended. */
            episodes: components["schemas"]["Episode"][];
            /** @description Its new metric rows; none when only its status changed. */
            rows: components["schemas"]["MetricRow"][];
            /** @description How it is doing now. */
            run: components["schemas"]["Run"];
            /** @enum {string} */
            type: "RunProgress";
        } | {
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Environment steps of the checkpoint.
             */
            step: number;
            /** @enum {string} */
            type: "CheckpointCreated";
        } | {
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /** @description The run that it evaluates, where it is an evaluation of another. */
            evaluates?: string | null;
            /** @description What was found. */
            evaluation: components["schemas"]["Evaluation"];
            /** @description The run. */
            run_id: string;
            /** @enum {string} */
            type: "EvalResult";
        } | {
            /** @description Who asked. */
            by: string;
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /**
             * Format: double
             * @description Its value from then on.
             */
            new: number;
            /**
             * Format: double
             * @description Its value until then; none where a foreign trainer never said.
             */
            old: number | null;
            /** @description The full path of the setting. */
            path: string;
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Environment steps at that moment.
             */
            step: number;
            /** @enum {string} */
            type: "TuneApplied";
        } | {
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /** @description The run. */
            run_id: string;
            /** @enum {string} */
            type: "ArtifactsAvailable";
        } | {
            /** @description The artifact. */
            artifact_id: string;
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /**
             * Format: int64
             * @description How many of its kind the run still has.
             */
            kept: number;
            /** @description What it was. */
            kind: components["schemas"]["ArtifactKind"];
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description How many of its kind the run ever had.
             */
            total: number;
            /** @enum {string} */
            type: "ArtifactPruned";
        } | {
            /** @description What it is. */
            alert: components["schemas"]["Alert"];
            /** @enum {string} */
            type: "AlertTriggered";
        } | {
            /** @description How it stands. */
            alert: components["schemas"]["Alert"];
            /** @enum {string} */
            type: "AlertChanged";
        } | {
            /** @description The run. */
            run_id: string;
            /** @enum {string} */
            type: "RunDeleted";
        } | {
            /** @description The line in the event log. */
            entry: components["schemas"]["Entry"];
            /** @description The run that it evaluates, where it is an evaluation of another. */
            evaluates?: string | null;
            /** @description The run. */
            run_id: string;
            /** @enum {string} */
            type: "EventLogged";
        } | {
            /** @enum {string} */
            type: "Alive";
        };
        /** @description A field that is wrong. */
        FieldProblem: {
            /** @description What is wrong with it. */
            detail: string;
            /** @description JSON pointer of the field in the request body. */
            pointer: string;
        };
        /** @description What a metric came to in a window. */
        Figures: {
            /**
             * Format: double
             * @description The newest.
             */
            last: number;
            /**
             * Format: double
             * @description The greatest.
             */
            max: number;
            /**
             * Format: double
             * @description Their mean.
             */
            mean: number;
            /**
             * Format: double
             * @description The least.
             */
            min: number;
            /**
             * Format: int64
             * @description Values.
             */
            n: number;
        };
        /** @description A fork to be made. */
        Fork: {
            /**
             * @description The checkpoint that it goes on from: `latest`, `best`, a folder, or a number of steps.
             * @default latest
             * @example step_000200000
             */
            checkpoint: string;
            /** @description Settings that are changed, by full path: those in the run's `overrides_whitelist`. */
            overrides?: Record<string, never>;
        };
        /** @description One moment of an episode. */
        Frame: {
            action: components["schemas"]["AnyAction"] | null;
            /** @description What the agent sees. */
            observation: number[];
            /**
             * @description The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
             *     who cannot see the board; only of games.
             */
            pieces?: number[][] | null;
            /**
             * Format: double
             * @description Reward of that action.
             */
            reward: number;
            /** @description The picture. */
            scene: components["schemas"]["Scene"];
            /**
             * Format: double
             * @description Rewards so far.
             */
            total_reward: number;
        };
        /** @description What a viewer may say. */
        FrameCommand: {
            /**
             * Format: int32
             * @description Pictures a second for this viewer, 1 to 30; 0 for a pause.
             */
            fps: number;
        };
        /** @description Why there is no picture of a foreign trainer, in the place of one. */
        FrameNotice: {
            /**
             * @description In a sentence.
             * @example no frames: the trainer sends none
             */
            notice: string;
        };
        /**
         * @description Where a picture comes from.
         * @enum {string}
         */
        FrameSource: "preview" | "training" | "evaluation" | "trainer";
        /** @description A game for two. */
        Game: {
            /** @description Its id. */
            id: string;
            /** @description For people. */
            name: string;
            /** @description Who can be played, one per level, strongest first. Others can be asked for by id. */
            opponents: components["schemas"]["Opponent"][];
        };
        /** @description The games. */
        GameList: {
            /** @description All of them. */
            games: components["schemas"]["Game"][];
        };
        /** @description An artifact that goes. */
        Going: {
            /** @description The artifact. */
            artifact: components["schemas"]["Artifact"];
            /** @description Why. */
            reason: string;
            /** @description The run. */
            run_id: string;
        };
        /** @description A run that goes. */
        GoingRun: {
            /** @description Why. */
            reason: string;
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Bytes of what it has made.
             */
            size_bytes: number;
        };
        /** @description What a trainer's processes use of the GPUs. */
        GpuSample: {
            /**
             * Format: int64
             * @description Memory of its processes on all GPUs.
             */
            memory_bytes: number;
            /**
             * Format: double
             * @description Use of the busiest GPU that it works on, in percent.
             */
            percent: number;
        };
        /** @description Runs that were made together: several seeds of one configuration. */
        Group: {
            aggregate: components["schemas"]["Aggregate"] | null;
            /** @description Id of the environment. */
            env_id: string;
            /** @description The experiment that they are of. */
            experiment_id: string | null;
            /**
             * @description Their common name.
             * @example g-7f3k2m
             */
            id: string;
            /** @description The runs, in the order in which they were made. */
            runs: components["schemas"]["Run"][];
        };
        /**
         * @description How recent the signs of life of a run are.
         * @enum {string}
         */
        Health: "fresh" | "stale" | "dead";
        /** @description That the lab is there. */
        Healthz: {
            /** @description Always `ok`; a lab that is not does not answer. */
            status: string;
        };
        /** @description What perfect play, or the strongest level where nobody is perfect, would do in your place. */
        Hint: {
            /** @description What to play. */
            action: number;
            /** @description Id of who says so. */
            by: string;
            /** @description Who says so, for people. */
            by_name: string;
            /** @description The help that you took, in words. */
            help: string | null;
            /**
             * Format: int32
             * @description How many hints you were given in this game. Asking again in the same position is no new one.
             */
            hints: number;
            /**
             * Format: int32
             * @description In how many moves it wins, yours, or loses, your opponent's; none where nobody counted.
             */
            in_moves: number | null;
            /**
             * Format: float
             * @description Otherwise how good it looks by a rule of thumb, −1 to 1; that is no probability.
             */
            judgement: number | null;
            /** @description The action for people. */
            name: string;
            outcome: components["schemas"]["PlayResult"] | null;
            /**
             * Format: int32
             * @description The position that it is about: moves so far.
             */
            ply: number;
            /** @description All of that in a sentence. */
            text: string;
        };
        /** @description All that is needed to repeat an episode, here or in Gymnasium. */
        HumanActions: {
            /** @description What was done, a step each. */
            actions: components["schemas"]["AnyAction"][];
            /** @description Id of the environment. */
            env_id: string;
            /** @description Options of the environment. */
            options: Record<string, never>;
            /**
             * Format: int64
             * @description The number given to `reset`.
             */
            seed: number;
        };
        /** @description An episode that a person plays or played. */
        HumanEpisode: {
            /**
             * Format: int32
             * @description Its number in the session, from 1.
             */
            episode: number;
            /**
             * Format: int64
             * @description Steps.
             */
            length: number;
            /**
             * Format: int64
             * @description The number given to `reset`.
             */
            seed: number;
            /** @description Whether the task itself has ended. */
            terminated: boolean;
            /**
             * Format: double
             * @description Sum of the rewards.
             */
            total_reward: number;
            /** @description Whether the time limit was reached. */
            truncated: boolean;
        };
        /** @description What a person plays. */
        HumanSession: {
            /** @description When it began (RFC 3339). */
            created_at: string;
            /** @description The environment, with these options. */
            environment: components["schemas"]["Environment"];
            /** @description The episodes so far, in order, as far as they were kept. */
            episodes: components["schemas"]["HumanEpisode"][];
            /** @description Its name, made by the lab. */
            id: string;
            /** @description Options of the environment. */
            options: Record<string, never>;
        };
        /** @description The newest sessions. */
        HumanSessionList: {
            /** @description The sessions, newest first. */
            sessions: components["schemas"]["HumanSessionSummary"][];
        };
        /** @description A session in one line. */
        HumanSessionSummary: {
            /**
             * Format: double
             * @description The best return of an episode that has ended.
             */
            best: number | null;
            /** @description When it began (RFC 3339). */
            created_at: string;
            /** @description Id of the environment. */
            env_id: string;
            /** @description The environment's name for people. */
            env_name: string;
            /** @description Episodes in which something was done. */
            episodes: number;
            /** @description Its name, made by the lab. */
            id: string;
        };
        /** @description What is done while no key is held. */
        Idle: {
            /** @description This action of a list. */
            action: number;
        } | {
            /**
             * @description What was done last goes on; before anything was done, this action. For a list in which
             *     every action does something.
             */
            last: number;
        } | "zero";
        /** @description One thing that the numbers say. */
        Insight: {
            /** @description The numbers behind it, in a sentence. */
            detail: string;
            /** @description What it rests on. */
            evidence: components["schemas"]["Evidence"];
            /**
             * @description What was found.
             * @example converged
             */
            id: string;
            /** @description For people who do not know the words. */
            plain: string;
            /**
             * @description For people who know the words.
             * @example Agent has converged on a stable strategy
             */
            sentence: string;
            /**
             * @description `error`, `warning`, `good` or `info`.
             * @example good
             */
            severity: string;
            /** @description What could be done. */
            suggestion: string | null;
            /** @description What to show: the sentence, or with `plain` the plain one. */
            text: string;
        };
        /** @description What the numbers of a run say. */
        Insights: {
            /** @description The most serious first. */
            insights: components["schemas"]["Insight"][];
            /**
             * Format: int64
             * @description The newest metric row that was looked at: the answer changes when there are more.
             */
            last_row: number;
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number;
            /** @description What is going on, in a few plain sentences. */
            summary: string;
        };
        /**
         * @description What an interval is over.
         * @enum {string}
         */
        IntervalKind: "seeds" | "episodes";
        /** @description A metric in a window. */
        IterationMetric: {
            /** @description What it came to. */
            figures: components["schemas"]["Figures"];
            /** @description Name of the metric. */
            key: string;
            /** @description Its name for people. */
            label: string;
            /** @description Environment steps of its points; of more than 1,000, evenly thinned out. */
            step: number[];
            /** @description Values; none where one was not finite. */
            value: (number | null)[];
        };
        /** @description How a run is carried out. */
        Job: {
            /** @description What its supervisor starts; `RUN` stands for the run's name. */
            command: string[];
            /**
             * Format: double
             * @description CPU cores that are set aside for it.
             */
            cpu: number;
            /**
             * Format: int32
             * @description GPUs that are set aside for it.
             */
            gpu: number;
            /**
             * Format: double
             * @description Seconds after which an attempt is ended.
             */
            max_seconds: number | null;
            /**
             * Format: int64
             * @description Bytes of memory that are set aside for it.
             */
            memory_bytes: number;
            /**
             * Format: int32
             * @description How often it is started again by itself.
             */
            restarts: number;
            /**
             * Format: double
             * @description Seconds that it may take to save and end.
             */
            stop_grace_s: number;
            /** @description Threads that learn. */
            threads: number;
        };
        /** @description How many runs are where in their lives. */
        Jobs: {
            /**
             * Format: int64
             * @description Ended in an error, or lost.
             */
            failed: number;
            /**
             * Format: int64
             * @description In the queue.
             */
            pending: number;
            /**
             * Format: int64
             * @description At work.
             */
            running: number;
            /**
             * Format: int64
             * @description Done.
             */
            succeeded: number;
            /**
             * Format: int64
             * @description Ended because somebody asked.
             */
            terminated: number;
        };
        /** @description How many of a kind are kept. */
        Kept: {
            /**
             * Format: int64
             * @description How many are there.
             */
            kept: number;
            /** @description The kind. */
            kind: components["schemas"]["ArtifactKind"];
            /**
             * Format: int64
             * @description Bytes of those that are there.
             */
            size_bytes: number;
            /** @description The same in words: `2 of 5 kept`. */
            text: string;
            /**
             * Format: int64
             * @description How many there have ever been.
             */
            total: number;
        };
        /** @description A figure that people look at first. */
        Kpi: {
            /** @description Its name for people. */
            label: string;
            /** @description The metric. */
            metric: string;
            /**
             * @description `return`, `evaluation`, `steps_per_sec`, `length`, `profit`, `survival` or
             *     `invalid_action_rate`.
             */
            name: string;
            /**
             * Format: int64
             * @description Steps at that value.
             */
            step: number | null;
            /**
             * Format: double
             * @description The newest value; none where there is none.
             */
            value: number | null;
        };
        /** @description What the lab is. */
        LabFacts: {
            /** @description CPU cores of the machine. */
            cores: number;
            /** @description Where the data is. */
            data_dir: string;
            /** @description Version of the product. */
            version: string;
        };
        /** @description What trainings have reached in an environment. */
        Leaderboard: {
            /** @description Id of the environment. */
            env_id: string;
            /** @description How many trainings have an evaluation, of the newest 1,000. */
            n_runs: number;
            /** @description The configurations, best first. */
            rows: components["schemas"]["LeaderboardRow"][];
            /**
             * Format: double
             * @description The mean return from which the task counts as solved.
             */
            threshold: number | null;
        };
        /** @description Trainings that differ in nothing but their seed. */
        LeaderboardRow: {
            /** @description What the evaluations that count come to: mean, IQM, bootstrap intervals. */
            aggregate: components["schemas"]["Aggregate"];
            /** @description The algorithm. */
            algorithm: string;
            /** @description The 95% interval of the mean. */
            ci95: number[];
            /** @description SHA-256 of the configuration without its seed. */
            config_sha256: string;
            /** @description Options of the environment. */
            env: Record<string, never>;
            /** @description The experiment that the first of them is of. */
            experiment_id: string | null;
            /** @description What the interval is over. */
            interval: components["schemas"]["IntervalKind"];
            /** @description The name of the first of them for people. */
            name: string;
            /** @description Its place, from 1. */
            place: number;
            /** @description The trainings, best first. */
            runs: components["schemas"]["LeaderboardRun"][];
            /** @description Whether the mean is at the threshold or above; none where there is no threshold. */
            solved: boolean | null;
        };
        /** @description One training of a row. */
        LeaderboardRun: {
            /** @description Folder of the checkpoint that it measured; none where the training measured itself. */
            checkpoint: string | null;
            /** @description Its 95% interval. */
            ci95: number[];
            /**
             * Format: int32
             * @description Episodes of the evaluation that counts: the newest of the checkpoint with the most steps.
             */
            episodes: number;
            /** @description The evaluation that was asked for and counts; none where the training measured itself. */
            evaluation_id: string | null;
            /**
             * Format: double
             * @description Their mean return.
             */
            mean: number;
            /** @description The newest evaluation of each other checkpoint, the one of the most steps first, at most 10. */
            others: components["schemas"]["OtherEvaluation"][];
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Its seed.
             */
            seed: number;
            /**
             * Format: int64
             * @description Environment steps of the policy that was evaluated.
             */
            step: number;
        };
        /** @description How many lines a foreign trainer wrote, each in exactly one class. */
        LineCounts: {
            /** @description The lines of the protocol, by type. */
            by_type: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Lines that were too long.
             */
            cut: number;
            /**
             * Format: int64
             * @description Lines that are none, kept in the log.
             */
            log: number;
            /**
             * Format: int64
             * @description Lines of the log that were dropped to keep it small.
             */
            log_dropped: number;
            /**
             * Format: int64
             * @description Numbers that were not finite.
             */
            nonfinite: number;
            /** @description Why lines were wrong, and how many each. */
            reasons: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Lines of the protocol.
             */
            typed: number;
            /**
             * Format: int64
             * @description JSON objects of a type that the protocol does not have.
             */
            unknown: number;
            /**
             * Format: int64
             * @description Lines of a known type that could not be used.
             */
            wrong: number;
        };
        /** @description An address in another tool. */
        Link: {
            /** @description `grafana`, `tempo`, `jaeger` or `loki`. */
            tool: string;
            /** @description The address. */
            url: string;
        };
        /** @description Addresses in which `{run_id}` and `{request_id}` stand for what is asked for. */
        LinkTemplates: {
            /**
             * @description Charts.
             * @example https://grafana.example/d/lab?var-run={run_id}
             */
            grafana: string | null;
            /** @description Traces. */
            jaeger: string | null;
            /** @description Logs. */
            loki: string | null;
            /** @description Traces. */
            tempo: string | null;
        };
        /** @description Where other tools show what was asked for. */
        Links: {
            /** @description One per tool whose address is in `lab.json` and asks for no more than was given. */
            links: components["schemas"]["Link"][];
        };
        /** @description A picture of what a run is doing. */
        LiveFrame: {
            action: components["schemas"]["AnyAction"] | null;
            /**
             * Format: int64
             * @description Number of the episode in the run; none in random play.
             */
            episode: number | null;
            /** @description What a foreign trainer calls the episode. */
            episode_id?: string | null;
            /** @description The picture as a `data:` URL, where a foreign trainer sends pixels. */
            image?: string | null;
            /** @description What is seen; none where it is more than a few numbers, or nobody knows. */
            observation: number[] | null;
            /**
             * @description The seats whose pieces lie where each action of a game is chosen, the lowest first, for people
             *     who cannot see the board; only of games.
             */
            pieces?: number[][] | null;
            /**
             * Format: double
             * @description Rewards of the episode so far.
             */
            reward: number;
            scene?: components["schemas"]["Scene"] | null;
            /** @description Where it comes from. */
            source: components["schemas"]["FrameSource"];
            /**
             * Format: int64
             * @description Steps of the episode so far.
             */
            step: number;
            /**
             * Format: int64
             * @description Environment steps of the run when the episode ended; 0 where nobody knows.
             */
            timestep: number;
        };
        /** @description The end of what a run's trainer printed. */
        LogTail: {
            /** @description The lines, oldest first. */
            lines: string[];
            /** @description The run. */
            run_id: string;
            /** @description Whether there are more before them. */
            truncated: boolean;
        };
        /** @description A match that has ended, as the log has it. */
        LoggedMatch: {
            /** @description The player whose result is told. */
            a: components["schemas"]["Player"];
            /** @description When it ended (RFC 3339). */
            at: string;
            /** @description The other. */
            b: components["schemas"]["Player"];
            /**
             * Format: int32
             * @description Games drawn.
             */
            draws: number;
            /** @description Options of the environment. */
            env: Record<string, never>;
            /** @description Id of the game or environment. */
            game: string;
            /**
             * @description Its name: that of the run, and in a tournament the number of the pairing after a slash.
             * @example r-7f3k2m/3
             */
            id: string;
            /**
             * Format: int32
             * @description Games lost.
             */
            losses: number;
            /** @description The run that played it; it may be gone. */
            run_id: string;
            /**
             * Format: int64
             * @description What the seeds follow from.
             */
            seed_base: number;
            /**
             * Format: int32
             * @description Games won by A.
             */
            wins: number;
        };
        /** @description The token, typed by a person. */
        Login: {
            /** @description The lab's token. */
            token: string;
        };
        /** @description A token that was made. */
        MadeToken: {
            /** @description The token itself, for `Authorization: Bearer`. It is kept nowhere and shown this once. */
            secret: string;
            /** @description What it is. */
            token: components["schemas"]["Token"];
        };
        /** @description How a match went, seed by seed. Figures are in `match_result` of its run. */
        MatchDetail: {
            /** @description The player whose result is told. */
            a: components["schemas"]["Player"];
            /** @description The other. */
            b: components["schemas"]["Player"];
            /** @description Whether each opening was played from both sides. */
            both_sides: boolean;
            /** @description Seed by seed, at most 10,000. */
            buckets: components["schemas"]["Bucket"][];
            difference: components["schemas"]["Difference"] | null;
            /**
             * Format: int64
             * @description What the seeds follow from.
             */
            seed_base: number;
        };
        /** @description A page of matches. */
        MatchPage: {
            /** @description The matches, newest first. */
            matches: components["schemas"]["LoggedMatch"][];
            /** @description Ask with this as `before` for the next page; none after the last. */
            next: string | null;
        };
        /** @description How two players compare, from the view of the first. */
        MatchResult: {
            /** @description The first player's name for people. */
            a: string;
            /** @description The second player's. */
            b: string;
            /**
             * Format: int32
             * @description Games drawn.
             */
            draws: number;
            /**
             * Format: double
             * @description Difference of strength in Elo; none when it has no bound.
             */
            elo: number | null;
            /** @description The 95% interval of the Elo difference; none where it has no bound. */
            elo_ci95: (number | null)[];
            /**
             * Format: int32
             * @description Games lost.
             */
            losses: number;
            /**
             * Format: double
             * @description Share of the points: a win is 1, a draw a half.
             */
            score: number;
            /** @description The 95% interval of the score. */
            score_ci95: number[];
            /**
             * Format: int32
             * @description Games won.
             */
            wins: number;
        };
        /** @description Who asks. */
        Me: {
            /** @description The name of the token. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /** @description All scalars of one moment. */
        MetricRow: {
            /**
             * Format: int64
             * @description Its number in the run, from 1.
             */
            row: number;
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number;
            /**
             * Format: double
             * @description Unix seconds.
             */
            t: number;
            /** @description Value of each metric; none where one was not finite. */
            values: {
                [key: string]: number | null;
            };
        };
        /** @description The metrics of a run as columns. */
        Metrics: {
            /**
             * Format: int64
             * @description The newest row that the series cover: rows after it come by the live feed.
             */
            last_row: number;
            /** @description The run. */
            run_id: string;
            /** @description One series per metric. */
            series: components["schemas"]["Series"][];
        };
        /** @description A move that gave something away. */
        Mistake: {
            /** @description What would have been better. */
            best: components["schemas"]["ThoughtMove"];
            /** @description Whether it was yours. */
            is_yours: boolean;
            /** @description What was played. */
            played: components["schemas"]["ThoughtMove"];
            /**
             * Format: int32
             * @description Moves before it.
             */
            ply: number;
            /** @description Who made it. */
            seat: number;
            /**
             * Format: float
             * @description What it was worth to them after the move.
             */
            value_after: number;
            /**
             * Format: float
             * @description What the position was worth to who moved, −1 to 1.
             */
            value_before: number;
        };
        /** @description A named model. */
        Model: {
            /** @description Versions by their other names: `latest` is always the newest. */
            aliases: {
                [key: string]: number;
            };
            /** @description Whether it was put away. */
            archived: boolean;
            /** @description When its first version was made (RFC 3339). */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /** @description Id of the environment or game that it acts in. */
            env_id: string;
            /** @description How many versions it has. */
            n_versions: number;
            /** @description Its name. */
            name: string;
            /** @description The version that is meant where nobody says which: the best, or else the newest. */
            usual: components["schemas"]["ModelVersion"];
        };
        /** @description A model with all its versions. */
        ModelDetail: components["schemas"]["Model"] & {
            /** @description Its versions, newest first. */
            versions: components["schemas"]["ModelVersion"][];
        };
        /** @description A file of a version. */
        ModelFile: {
            /**
             * @description Where it is downloaded.
             * @example /api/models/lander/3/policy.onnx
             */
            href: string;
            /** @description `policy.onnx` or `weights.safetensors`. */
            name: string;
            /** @description Its SHA-256, which is its `ETag` too. */
            sha256: string;
            /**
             * Format: int64
             * @description Its size.
             */
            size_bytes: number;
        };
        /** @description A page of models. */
        ModelPage: {
            /** @description The models, by name. */
            models: components["schemas"]["Model"][];
            /** @description Ask with this as `after` for the next page; none after the last. */
            next: string | null;
        };
        /** @description A checkpoint that a run was forked from. */
        ModelParent: {
            /** @description Folder of the checkpoint. */
            checkpoint: string;
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Its environment steps.
             */
            step: number;
        };
        /** @description One version of a model, which never changes. */
        ModelVersion: {
            /** @description The algorithm that it was learnt by; empty where nobody knows. */
            algorithm: string;
            /** @description Its other names. */
            aliases: string[];
            /** @description Folder of the checkpoint, or the artifact of the run, that it is a copy of. */
            checkpoint: string | null;
            /** @description SHA-256 of the configuration of its run. */
            config_sha256: string | null;
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /** @description Options of its environment. */
            env: Record<string, never>;
            /** @description The experiment that its run is of. */
            experiment_id: string | null;
            /** @description Its files. */
            files: components["schemas"]["ModelFile"][];
            /** @description What there is to say of it. */
            notes: string;
            /** @description The checkpoints that its run was forked from, the nearest first. */
            parents: components["schemas"]["ModelParent"][];
            /**
             * @description Who it is as a player, for matches and evaluations.
             * @example model:lander@3
             */
            player: string;
            /** @description The run that it was learnt in; none where it came as a file. The run may be gone. */
            run_id: string | null;
            /** @description SHA-256 of its weights, or of its file where the weights are not ours. */
            sha256: string;
            /**
             * Format: int64
             * @description Its environment steps; 0 where nobody knows.
             */
            step: number;
            /**
             * Format: int32
             * @description Its number, from 1.
             */
            version: number;
        };
        /** @description A move that was made. */
        Move: {
            /** @description What was played. */
            action: number;
            /** @description The action for people. */
            name: string;
            /** @description Its number, from 0. */
            ply: number;
            /** @description Who made it. */
            seat: number;
        };
        /** @description Where an alias is to point. */
        NewAlias: {
            /** @description `best`, or a word of your own; `latest` moves by itself. */
            alias: string;
            /**
             * Format: int32
             * @description The version.
             */
            version: number;
        };
        /** @description How a policy is to be measured. */
        NewEvaluation: {
            /**
             * @description Which checkpoint: `latest`, `best`, a folder such as `step_000200000`, or a number of steps.
             * @default latest
             */
            checkpoint: string | null;
            /**
             * @description Whether the policy does what it holds best, and not what chance makes of it.
             * @default true
             */
            deterministic: boolean;
            /**
             * Format: int32
             * @description How many episodes; as many as there are `seeds`, where those are given.
             * @default 10
             */
            episodes: number | null;
            /**
             * Format: int64
             * @description What the seeds of the episodes follow from.
             * @default 0
             */
            seed: number | null;
            /** @description The seeds themselves, one for each episode, as `reset` gets them. */
            seeds?: number[] | null;
            /**
             * @description Whether a film is made of it: the first two minutes, as an MP4 file.
             * @default false
             */
            video: boolean;
        };
        /** @description A session to be made. */
        NewHumanSession: {
            /**
             * @description Id of the environment.
             * @example CartPole-v1
             */
            env_id: string;
            /** @description Options of the environment, under Gymnasium's names. */
            options?: Record<string, never>;
            /**
             * Format: int64
             * @description The number given to the first `reset`; any when left out.
             */
            seed?: number | null;
        };
        /** @description A match to be played. */
        NewMatch: {
            /** @description Options of the environment; without them those of the players. */
            env?: Record<string, never>;
            /**
             * @description Id of the game or environment; without it that which the players were made for.
             * @example connect4
             */
            game?: string | null;
            /**
             * @description The player whose result is told: `random`, `mcts:100`, `model:lander@best`, a run such as
             *     `r-7f3k2m@latest`, or `artifact:RUN/ARTIFACT`; at a board also `best` and `shipped`, and what
             *     was learnt with its simulations at the end: `best:600`.
             * @example model:lander@best
             */
            model_a: string;
            /**
             * @description The other player.
             * @example random
             */
            model_b: string;
            /**
             * Format: int32
             * @description How many games, or episodes in an environment; 100 games or 20 episodes without it.
             */
            n_matches?: number | null;
            /** @description Which openings or episodes. */
            seed_plan?: components["schemas"]["NewSeedPlan"];
            /**
             * Format: int32
             * @description How many simulations those who have learnt search with at a board where they do not say it
             *     themselves, as `best:600` does; 0 is their policy alone. Without it 200.
             */
            simulations?: number | null;
        };
        /** @description A version to be made. */
        NewModel: {
            /** @description An ONNX file that the run has made, instead of a checkpoint. */
            artifact_id?: string | null;
            /**
             * @description Which checkpoint: `best`, `latest`, a folder such as `step_000200000`, or a number of steps;
             *     without it the best, or else the newest.
             */
            checkpoint?: string | null;
            /** @description Name of the model, which is made with its first version: small letters, digits, `-`, `_`. */
            name: string;
            /** @description What there is to say of it. */
            notes?: string;
            /**
             * @description The run whose policy is kept.
             * @example r-7f3k2m
             */
            run_id: string;
            /**
             * Format: int64
             * @description The steps of the checkpoint, instead of `checkpoint`.
             */
            step?: number | null;
        };
        /** @description A move to be made. */
        NewMove: {
            /** @description What to play. */
            action: number;
            /**
             * Format: int32
             * @description Moves so far, as you know them: a move for a position that is gone is refused.
             */
            ply: number;
        };
        /** @description A game to be set up. */
        NewPlay: {
            /**
             * @description Id of the game.
             * @example tictactoe
             */
            game: string;
            /**
             * @description Id of an opponent, or a network as `GET /api/play/opponents` lists it, with the simulations of
             *     its search after it: `best:200`, `model:four@3:0`, `run:r-7f3k2m@latest:50`.
             * @example builtin:perfect
             */
            opponent: string;
            /** @description The side that you want. */
            side?: components["schemas"]["Side"];
        };
        /** @description What a run needs. */
        NewResources: {
            /**
             * @description CPU cores: `2`, `0.5` or `500m`.
             * @default 1
             */
            cpu: string | null;
            /**
             * Format: int32
             * @description GPUs.
             * @default 0
             */
            gpu: number | null;
            /**
             * @description Memory: `4Gi`, `512Mi`, or a number of bytes.
             * @default 256Mi
             */
            memory: string | null;
        };
        /**
         * @description A run to be made: of an experiment, or in short of an environment. Several seeds make several
         *     runs, which are a group.
         */
        NewRun: {
            /**
             * @description The algorithm; `ppo` unless it is said.
             * @default ppo
             */
            algorithm: string | null;
            /** @description Whether nothing is made, and the answer says what would be. */
            dry_run?: boolean;
            /**
             * @description Id of the environment, where there is no experiment.
             * @example CartPole-v1
             */
            env_id?: string | null;
            /**
             * @description The experiment that it is made from.
             * @example e-7f3k2m
             */
            experiment_id?: string | null;
            /**
             * Format: double
             * @description Step size of the optimiser.
             * @default 0.0003
             */
            learning_rate: number | null;
            /**
             * Format: double
             * @description Seconds after which an attempt is stopped, with a last checkpoint.
             */
            max_seconds?: number | null;
            /**
             * @description Settings that differ: from the experiment's only those in its `overrides_whitelist`, without
             *     an experiment any, by full path, in sections, or by alias.
             */
            overrides?: Record<string, never>;
            /**
             * @description Settings that go well together, laid over the defaults, where there is no experiment.
             * @example fast
             */
            preset?: string | null;
            resources?: components["schemas"]["NewResources"] | null;
            /**
             * Format: int32
             * @description How often it is started again from its last checkpoint when it fails or is lost.
             */
            restarts?: number | null;
            /**
             * Format: int64
             * @description The number that decides the whole run.
             * @default 42
             */
            seed: number | null;
            seeds?: components["schemas"]["NewSeeds"] | null;
            /**
             * Format: int64
             * @description Environment steps to train for.
             * @default 1000000
             */
            total_timesteps: number | null;
            /**
             * @description Whether the W&B server that the lab knows is told of it as well: the one in its environment or
             *     in `lab.json`, with the lab's key.
             */
            track?: boolean;
        };
        /** @description Which openings or episodes are played. */
        NewSeedPlan: {
            /**
             * @description Whether each opening is played from both sides; otherwise the first player always moves
             *     first. It means nothing in an environment.
             * @default true
             */
            both_sides: boolean | null;
            /**
             * Format: int32
             * @description How many seeds: each is one opening, or one episode.
             */
            count?: number | null;
            /**
             * Format: int32
             * @description Random moves of an opening at a board, 0 for the start of the game; without it 4 at Connect
             *     4, 6 at Othello and 1 at tic-tac-toe.
             */
            opening_plies?: number | null;
            /**
             * Format: int64
             * @description What the seeds follow from.
             * @default 0
             */
            seed_base: number;
        };
        /** @description The seeds of several runs. */
        NewSeeds: number[] | {
            /**
             * Format: int64
             * @description How many.
             */
            count: number;
            /**
             * Format: int64
             * @description The first.
             */
            seed_base: number;
        };
        /** @description An experiment to be made. */
        NewTemplate: {
            /**
             * @description The configuration, as the schema `experiment` has it. What is left out is as by default;
             *     aliases and full paths as keys are understood.
             */
            config: Record<string, never>;
            /** @description What it is for. */
            description?: string;
            /** @description Whether nothing is made, and the answer says what it would come to; it then needs no name. */
            dry_run?: boolean;
            /**
             * @description Its name for people.
             * @example Lander, a higher learning rate
             */
            name: string;
            /**
             * @description Settings that go well together, laid over the defaults.
             * @example fast
             */
            preset?: string | null;
            seeds?: components["schemas"]["NewSeeds"] | null;
        };
        /** @description A door that somebody wants to go through. */
        NewTicket: {
            /**
             * @description The address without its query.
             * @example /api/stream
             */
            path: string;
        };
        /** @description A token to be made. */
        NewToken: {
            /**
             * Format: double
             * @description Seconds until it ends; without it, it does not.
             * @example 2592000
             */
            expires_in_s?: number | null;
            /**
             * @description Who gets it: 1 to 40 letters, digits, spaces or `. _ @ -`. The audit names them so.
             * @example ci
             */
            name: string;
            /** @description What they may do. */
            role: components["schemas"]["Role"];
        };
        /** @description A tournament to be played. */
        NewTournament: {
            /** @description Options of the environment; without them those of the players. */
            env?: Record<string, never>;
            /**
             * @description Id of the game or environment.
             * @example connect4
             */
            game: string;
            /**
             * Format: int32
             * @description Games of each pairing, an even number; in an environment its episodes.
             * @default 20
             */
            games_per_pair: number;
            /**
             * @description Who meets whom.
             * @default round_robin
             */
            kind: components["schemas"]["TournamentKind"];
            /**
             * @description The players, written as for a match; each once.
             * @example [
             *       "random",
             *       "mcts:100",
             *       "perfect"
             *     ]
             */
            players: string[];
            /**
             * Format: int64
             * @description What the seeds follow from. All pairings play the same openings or episodes.
             * @default 0
             */
            seed: number;
            /**
             * Format: int32
             * @description How many simulations those who have learnt search with at a board where they do not say it
             *     themselves; 0 is their policy alone. Without it 200.
             */
            simulations?: number | null;
            /**
             * Format: int32
             * @description How many pairings are played at once; each counts a core.
             * @default 1
             */
            threads: number;
        };
        /** @description A run of a named trainer. */
        NewTrainerRun: {
            /** @description Values for its arguments, by name; those that are left out are as by default. */
            arguments?: Record<string, never>;
            /**
             * @description One of its environments, if not the first.
             * @example CartPole-v1
             */
            env_id?: string | null;
            /**
             * Format: double
             * @description Seconds after which an attempt is stopped.
             */
            max_seconds?: number | null;
            /**
             * Format: int64
             * @description Environment steps after which it is stopped.
             */
            max_steps?: number | null;
            /** @description Name of the run, for people. */
            name?: string | null;
            /**
             * Format: int32
             * @description How often it is started again when it fails or is lost.
             */
            restarts?: number | null;
            /**
             * Format: int64
             * @description Told to the program in `CARTRIDGE_SEED`.
             */
            seed?: number | null;
        };
        /** @description Somebody to play against. */
        Opponent: {
            /** @description What it is, honestly. */
            description: string;
            /** @description Whether this lab has that run: a network may come from another one. */
            has_run: boolean;
            /** @description Its id. */
            id: string;
            /** @description Its level at the game: `Beginner`, `Club`. None for an opponent that is offered at none. */
            level: string | null;
            /** @description For people. */
            name: string;
            rating: components["schemas"]["PlayRating"] | null;
            /** @description The run that it was learnt in, where it was and that is known. */
            run_id: string | null;
            /**
             * Format: int32
             * @description The simulations of its search, where it is a network; 0 is its policy alone.
             */
            simulations: number | null;
            /**
             * Format: int64
             * @description The steps of the run by then.
             */
            step: number | null;
            /** @description How strong it is in plain words, where that was measured. */
            strength: string | null;
        };
        /** @description Who can be played at a game. */
        OpponentList: {
            /** @description Id of the game. */
            game: string;
            /** @description The game's name for people. */
            game_name: string;
            /** @description Built-in opponents, one per level, strongest first. */
            levels: components["schemas"]["Opponent"][];
            /**
             * Format: int32
             * @description The most simulations that can be asked for.
             */
            most_simulations: number;
            /**
             * @description What was learnt: the lab's best, what is brought along, named models and checkpoints of
             *     trainings, the newest first.
             */
            networks: components["schemas"]["PlayableNetwork"][];
            /** @description Strengths of a network that can search, weakest first. */
            strengths: components["schemas"]["PlayStrength"][];
        };
        /** @description An evaluation of a checkpoint that does not count, because another one has more steps. */
        OtherEvaluation: {
            /** @description Folder of the checkpoint; none where the training measured itself. */
            checkpoint: string | null;
            /** @description Its 95% interval. */
            ci95: number[];
            /**
             * Format: int32
             * @description How many episodes.
             */
            episodes: number;
            /** @description The evaluation that was asked for; none where the training measured itself. */
            evaluation_id: string | null;
            /**
             * Format: double
             * @description Their mean return.
             */
            mean: number;
            /**
             * Format: int64
             * @description Environment steps of the policy that was evaluated.
             */
            step: number;
        };
        /**
         * @description The role of a colour; the names are those of the design tokens.
         * @enum {string}
         */
        Paint: "scene_bg" | "scene_ground" | "scene_edge" | "scene_body" | "scene_line" | "scene_live" | "scene_warm" | "scene_text" | "board" | "board_line" | "hole" | "disc_a" | "disc_b" | "disc_b_ring" | "accent";
        /** @description Where a fork began. */
        Parent: {
            /** @description The checkpoint. */
            checkpoint: string;
            /** @description The run that it was forked from. */
            run_id: string;
            /**
             * Format: int64
             * @description Environment steps of the checkpoint.
             */
            step: number;
        };
        /** @description A run that would be made. */
        PlannedRun: {
            /** @description What differs from the experiment, or from the defaults where there is none. */
            differences: components["schemas"]["Change"][];
            /** @description How it would be started. */
            job: components["schemas"]["Job"];
            /** @description Its manifest, without name and time. */
            manifest: Record<string, never>;
            /**
             * Format: int64
             * @description Its seed.
             */
            seed: number;
        };
        /** @description A game as it stands. */
        Play: {
            /** @description When it began (RFC 3339). */
            created_at: string;
            /** @description Id of the game. */
            game: string;
            /** @description The game's name for people. */
            game_name: string;
            /** @description The help that you took, in words: `with 2 take-backs, 1 hint`. */
            help: string | null;
            /**
             * Format: int32
             * @description How many hints you were given.
             */
            hints: number;
            /** @description Its name, made by the lab. */
            id: string;
            /** @description Whether it is yours: only then can you move, take back or ask in it. */
            is_yours: boolean;
            /** @description The actions that can be played now, ascending. */
            legal: number[];
            /** @description The moves so far; those that were taken back are not among them. */
            moves: components["schemas"]["Move"][];
            /** @description Whom you play. */
            opponent: components["schemas"]["Opponent"];
            /** @description Whose game it is, by the name of their token; `admin` is the lab's own. */
            owner: string;
            /**
             * Format: int32
             * @description Moves so far.
             */
            ply: number;
            result: components["schemas"]["PlayResult"] | null;
            /** @description The board. */
            scene: components["schemas"]["Scene"];
            /** @description Your seat: 0 moves first. */
            seat: number;
            /** @description Where on the board each action is chosen. */
            spots: components["schemas"]["Spot"][];
            /**
             * Format: int32
             * @description How often you took a move back.
             */
            take_backs: number;
            /** @description The board as text. */
            text: string;
            /** @description Who must move. */
            turn: components["schemas"]["Turn"];
        };
        /** @description What a client says. */
        PlayCommand: {
            /** @description Their places in the environment's list, the one pressed last coming last. */
            controls: number[];
            /** @enum {string} */
            type: "hold";
        } | {
            /** @description Number of the action. */
            action: number;
            /**
             * Format: int64
             * @description Steps of the episode that whoever decided has seen.
             */
            step: number;
            /** @enum {string} */
            type: "act";
        } | {
            /** @enum {string} */
            type: "start";
        } | {
            /** @enum {string} */
            type: "pause";
        } | {
            /**
             * Format: int64
             * @description The number given to `reset`; any when left out.
             */
            seed?: number | null;
            /** @enum {string} */
            type: "restart";
        } | {
            /**
             * Format: double
             * @description 1 is the environment's own pace, 0.5 half of it.
             */
            speed: number;
            /** @enum {string} */
            type: "speed";
        };
        /** @description How an episode stands. Every message says everything, so that any can be left out. */
        PlayFrame: {
            action: components["schemas"]["AnyAction"] | null;
            /**
             * Format: int32
             * @description Number of the episode in the session, from 1.
             */
            episode: number;
            /** @description The actions that may be taken now; none where the world goes on by itself. */
            legal: number[] | null;
            /**
             * @description What is seen, by the environment's `observation_names`; none where the world goes on by
             *     itself.
             */
            observation: number[] | null;
            /** @description Whether time passes. */
            phase: components["schemas"]["PlayPhase"];
            /**
             * Format: double
             * @description Reward of that.
             */
            reward: number;
            /** @description The picture. */
            scene: components["schemas"]["Scene"];
            /**
             * Format: int64
             * @description The number given to `reset`.
             */
            seed: number;
            /**
             * Format: double
             * @description 1 is the environment's own pace.
             */
            speed: number;
            /**
             * Format: int64
             * @description Steps so far.
             */
            step: number;
            /** @description Whether the task itself has ended. */
            terminated: boolean;
            /**
             * Format: double
             * @description Rewards so far.
             */
            total_reward: number;
            /** @description Whether the time limit was reached. */
            truncated: boolean;
        };
        /** @description The newest games. */
        PlayList: {
            /** @description The games, newest first. */
            plays: components["schemas"]["PlaySummary"][];
        };
        /**
         * @description Whether time passes in an episode.
         * @enum {string}
         */
        PlayPhase: "ready" | "playing" | "paused" | "over";
        /** @description How strong somebody was found to be in matches. */
        PlayRating: {
            /** @description The key of the player whose rating is 0. */
            anchor: string;
            /**
             * Format: int64
             * @description Games that it played.
             */
            games: number;
            /**
             * Format: int32
             * @description The simulations that it was rated with, which may be others than it plays with; none where it
             *     does not search.
             */
            rated_simulations: number | null;
            /**
             * Format: double
             * @description Bradley-Terry rating in Elo above the anchor.
             */
            rating: number;
            /**
             * Format: double
             * @description Its standard error; 0 for the anchor.
             */
            standard_error: number;
        };
        /**
         * @description How a game ended for you.
         * @enum {string}
         */
        PlayResult: "win" | "loss" | "draw";
        /** @description A strength of networks by its name. */
        PlayStrength: {
            /** @description `Novice`, `Master`. */
            name: string;
            /**
             * Format: int32
             * @description How many simulations it is; 0 is the policy alone.
             */
            simulations: number;
        };
        /** @description A game in one line. */
        PlaySummary: {
            /** @description When it began (RFC 3339). */
            created_at: string;
            /** @description Id of the game. */
            game: string;
            /** @description The game's name for people. */
            game_name: string;
            /** @description The help that you took, in words. */
            help: string | null;
            /** @description Its name, made by the lab. */
            id: string;
            /** @description The opponent's name for people. */
            opponent_name: string;
            /** @description Whose game it is, by the name of their token; `admin` is the lab's own. */
            owner: string;
            /**
             * Format: int32
             * @description Moves so far.
             */
            ply: number;
            result: components["schemas"]["PlayResult"] | null;
            /** @description Your seat: 0 moves first. */
            seat: number;
            /** @description Who must move. */
            turn: components["schemas"]["Turn"];
        };
        /**
         * @description What a network is to the lab.
         * @enum {string}
         */
        PlayableKind: "best" | "shipped" | "model" | "checkpoint";
        /** @description A network that can be played. */
        PlayableNetwork: {
            /** @description Whether it can search; otherwise it plays by its policy alone, and takes no simulations. */
            can_search: boolean;
            /**
             * @description How it is asked for: with simulations after it, `best:400`, where it can search.
             * @example best
             */
            id: string;
            /** @description What it is. */
            kind: components["schemas"]["PlayableKind"];
            /** @description For people. */
            name: string;
            /**
             * @description How strong it was found to be in matches, for each strength at which it can be played: with its
             *     simulations, or else with the number that is nearest.
             */
            ratings: components["schemas"]["StrengthRating"][];
            /** @description The run that it was learnt in, where that is known. */
            run_id: string | null;
            /**
             * Format: int64
             * @description The steps of the run by then.
             */
            step: number | null;
        };
        /** @description A player, as matches name it for ever. */
        Player: {
            /**
             * @description Who it is; the same key always plays the same.
             * @example model:lander@3
             */
            key: string;
            /** @description Its name for people. */
            name: string;
            /** @description SHA-256 of what it has learnt, where it has. */
            sha256: string | null;
        };
        /** @description A process, or the group of processes of a trainer. */
        Pod: {
            /**
             * Format: double
             * @description CPU use; 100 is one core. Trainers only.
             */
            cpu_percent: number | null;
            /**
             * Format: double
             * @description CPU seconds so far. Lab and supervisors only.
             */
            cpu_seconds: number | null;
            /**
             * Format: int64
             * @description Memory on all GPUs.
             */
            gpu_memory_bytes: number | null;
            /**
             * Format: double
             * @description Use of the busiest GPU, in percent.
             */
            gpu_percent: number | null;
            /** @description `fresh`, `stale` or `dead`. */
            health: string;
            /** @description `lab`, `supervisor` or `trainer`. */
            kind: string;
            /** @description Where other tools show it. */
            links: components["schemas"]["Link"][];
            /**
             * Format: int64
             * @description Memory.
             */
            memory_bytes: number | null;
            /**
             * @description What it is, and of which run.
             * @example trainer/r-7f3k2m
             */
            name: string;
            /** @description The run that it works for. */
            run_id: string | null;
            state: components["schemas"]["RunState"] | null;
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number | null;
            /**
             * Format: double
             * @description Environment steps a second.
             */
            steps_per_sec: number | null;
        };
        /** @description A game as it stood after some moves. */
        Position: {
            /**
             * Format: int32
             * @description Moves so far.
             */
            ply: number;
            /** @description The board. */
            scene: components["schemas"]["Scene"];
            /** @description Where on the board each action is chosen. */
            spots: components["schemas"]["Spot"][];
            /** @description The board as text. */
            text: string;
            /** @description Who had to move. */
            turn: components["schemas"]["Turn"];
        };
        /** @description One episode, frame by frame. */
        Preview: {
            /** @description The environment. */
            env_id: string;
            /** @description The frames; the first shows the start. */
            frames: components["schemas"]["Frame"][];
            /**
             * Format: int32
             * @description The environment's own pace.
             */
            frames_per_second: number;
            /** @description Steps that were taken. */
            length: number;
            /** @description What the client should know: that the id it gave is out of date. */
            notice: string | null;
            /** @description Who acts. */
            policy: components["schemas"]["PreviewPolicy"];
            /**
             * Format: int64
             * @description The number that was given to `reset`.
             */
            seed: number;
            /** @description Whether the task itself ended. */
            terminated: boolean;
            /** @description Whether the episode was cut short by its time limit. */
            truncated: boolean;
        };
        /** @description Who acts in a preview. */
        PreviewPolicy: {
            /** @enum {string} */
            kind: "random";
        } | {
            /** @enum {string} */
            kind: "checkpoint";
            /** @description The run. */
            run_id: string;
            /**
             * Format: int64
             * @description Environment steps of the checkpoint.
             */
            step: number;
        };
        /** @description What the machine costs, in whatever currency. */
        Prices: {
            /**
             * Format: double
             * @description An hour of a CPU core.
             */
            cpu_core_hour: number;
            /** @description The currency, for people. */
            currency: string;
            /**
             * Format: double
             * @description An hour of a GPU.
             */
            gpu_hour: number;
            /**
             * Format: double
             * @description An hour of a gibibyte of memory.
             */
            memory_gib_hour: number;
        };
        /** @description The body of a failed request. */
        Problem: {
            /** @description Which problem it is, for programs. */
            code: string;
            /** @description What went wrong, for people. */
            detail: string;
            /** @description The fields that are wrong. */
            errors?: components["schemas"]["FieldProblem"][];
            /** @description Number of the request, as in the log and the `X-Request-Id` header. */
            request_id: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description The HTTP status in words. */
            title: string;
            /** @description Always `about:blank`: the code says which problem it is. */
            type: string;
        };
        /** @description How strong a player is. */
        Rating: {
            /** @description Its 95% interval. */
            ci95: number[];
            /**
             * Format: int64
             * @description Games that it drew.
             */
            draws: number;
            /**
             * Format: double
             * @description Elo after its last game, from 1200 and with K = 1, as ML-Agents keeps it.
             */
            elo: number;
            /**
             * Format: int64
             * @description Games that it played.
             */
            games: number;
            /**
             * Format: int64
             * @description Games that it lost.
             */
            losses: number;
            /** @description Who it is. */
            player: components["schemas"]["Player"];
            /**
             * Format: double
             * @description Bradley-Terry rating of all games at once, in Elo above the anchor.
             */
            rating: number;
            /**
             * Format: double
             * @description Its standard error; 0 for the anchor.
             */
            standard_error: number;
            /** @description TrueSkill after its last game. */
            trueskill: components["schemas"]["TrueSkill"];
            /**
             * Format: int64
             * @description Games that it won.
             */
            wins: number;
        };
        /** @description Players that games connect, however indirectly. */
        RatingGroup: {
            /** @description The key of the player whose rating is 0. */
            anchor: string;
            /** @description The players, the strongest first. */
            players: components["schemas"]["Rating"][];
        };
        /** @description Ratings after each match. */
        RatingHistory: {
            /** @description Id of the game or environment. */
            game: string;
            /** @description The matches in the order in which they ended. */
            moments: components["schemas"]["RatingMoment"][];
        };
        /** @description Where the players of a match stood after it. */
        RatingMoment: {
            /** @description Player A after it. */
            a: components["schemas"]["RatingStanding"];
            /** @description The key of the player whose rating was 0 among those that games had connected by then. */
            anchor: string;
            /** @description When it ended (RFC 3339). */
            at: string;
            /** @description Player B after it. */
            b: components["schemas"]["RatingStanding"];
            /** @description How many games it had. */
            games: number;
            /** @description The match. */
            match_id: string;
            /**
             * Format: double
             * @description A's share of the points.
             */
            score: number;
        };
        /** @description Where a player stood. */
        RatingStanding: {
            /** @description Its 95% interval. */
            ci95: number[];
            /**
             * Format: double
             * @description Elo, from 1200 and with K = 1.
             */
            elo: number;
            /** @description Its key. */
            key: string;
            /** @description Its name for people. */
            name: string;
            /**
             * Format: double
             * @description Bradley-Terry rating of all games up to then, in Elo above the anchor.
             */
            rating: number;
            /**
             * Format: double
             * @description Its standard error; 0 for the anchor.
             */
            standard_error: number;
            /** @description TrueSkill. */
            trueskill: components["schemas"]["TrueSkill"];
        };
        /** @description How strong the players of a game are. */
        Ratings: {
            /** @description Id of the game or environment. */
            game: string;
            /** @description Groups of players that games connect; ratings of different groups cannot be compared. */
            groups: components["schemas"]["RatingGroup"][];
            /**
             * Format: int64
             * @description How many games they had.
             */
            n_games: number;
            /** @description Matches that do not count: under other options, or older rules. */
            n_left_out: number;
            /** @description How many matches count. */
            n_matches: number;
            /** @description What one must know to read them, in sentences. */
            notes: string[];
        };
        /** @description Whether the lab can work. */
        Readyz: {
            /** @description What was looked at. */
            checks: components["schemas"]["Check"][];
            /** @description `ready` or `not_ready`. */
            status: string;
        };
        /**
         * @description What a run's trainer has used of the machine, by all of its attempts, as columns of equal
         *     length. A row with nothing but its time says that nothing was running around it.
         */
        Resources: {
            /** @description CPU use; 100 is one core. */
            cpu_percent: (number | null)[];
            /** @description Memory on all GPUs. */
            gpu_memory_bytes: (number | null)[];
            /** @description Use of the busiest GPU, in percent; none where the trainer uses no GPU. */
            gpu_percent: (number | null)[];
            /** @description Memory. */
            memory_bytes: (number | null)[];
            /** @description The run. */
            run_id: string;
            /** @description Unix seconds. */
            t: number[];
        };
        /** @description What is kept; none means no limit. */
        RetentionLimits: {
            /**
             * Format: int32
             * @description Newest checkpoints of each run that does not say itself.
             */
            keep_checkpoints: number | null;
            /**
             * Format: int32
             * @description Newest runs of each algorithm in each environment.
             */
            keep_runs_per_agent: number | null;
            /**
             * Format: int32
             * @description Newest runs of each experiment; those of none count by their environment.
             */
            keep_runs_per_experiment: number | null;
            /**
             * Format: int32
             * @description Newest TensorBoard folders in all.
             */
            keep_tensorboard_runs: number | null;
            /**
             * Format: int32
             * @description Newest videos of each run that does not say itself.
             */
            keep_videos: number | null;
            /**
             * Format: int64
             * @description Bytes of all that runs have made, of the lab's records of them, the index and the trash.
             */
            max_bytes: number | null;
            /**
             * Format: int64
             * @description Steps between checkpoints that are kept for good, of each run that does not say itself.
             */
            milestone_every_steps: number | null;
        };
        /** @description A game that is over, gone through by a network. */
        Review: {
            /** @description Who thinks. */
            by: components["schemas"]["ThoughtBy"];
            mistake: components["schemas"]["Mistake"] | null;
            /** @description Every position, from the start to the end. */
            points: components["schemas"]["ReviewPoint"][];
            your_mistake: components["schemas"]["Mistake"] | null;
        };
        /** @description What a position was worth. */
        ReviewPoint: {
            /** @description Whether that is the truth. */
            is_known: boolean;
            /**
             * Format: int32
             * @description Moves so far.
             */
            ply: number;
            /**
             * Format: int32
             * @description The simulations that it was judged with; 0 at the end, and where time ran out.
             */
            simulations: number;
            /**
             * Format: float
             * @description What it was worth to you, −1 to 1.
             */
            value: number;
        };
        /**
         * @description What the holder of a token may do; each role may do all that those before it may.
         * @enum {string}
         */
        Role: "wandb" | "viewer" | "operator" | "admin";
        /** @description A run: a training or an evaluation. */
        Run: {
            /** @description What it is busy with. */
            activity: components["schemas"]["Activity"];
            /** @description The algorithm. */
            algorithm: string;
            /** @description Whether it was put away. */
            archived: boolean;
            /**
             * Format: int32
             * @description Which start of its trainer is the newest; 0 before the first.
             */
            attempt: number;
            best_eval: components["schemas"]["Evaluation"] | null;
            /** @description What can be asked of it now. */
            capabilities: components["schemas"]["Capability"][];
            /**
             * Format: int64
             * @description Steps of the newest checkpoint.
             */
            checkpoint_step: number | null;
            /** @description The runs that began from a checkpoint of it. */
            children: string[];
            /**
             * @description The same for all trainings that differ in nothing but their seeds: `config_sha256` of
             *     leaderboards.
             */
            config_hash: string | null;
            cost: components["schemas"]["RunCost"] | null;
            /**
             * Format: double
             * @description CPU use of the trainer; 100 is one core.
             */
            cpu_percent: number | null;
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Why its supervisor ended it, unless it was asked to. */
            end_reason: string | null;
            /** @description When its trainer ended. */
            ended_at: string | null;
            /** @description Id of the environment. */
            env_id: string;
            /** @description The environment's name for people. */
            env_name: string;
            /**
             * Format: int64
             * @description Episodes that have ended.
             */
            episodes: number;
            /**
             * Format: double
             * @description Seconds to the end at this pace.
             */
            eta_seconds: number | null;
            /** @description The experiment that it belongs to. */
            experiment_id: string | null;
            failure: components["schemas"]["Failure"] | null;
            gpu: components["schemas"]["GpuSample"] | null;
            /** @description The runs that it was made together with: several seeds of one configuration. */
            group: string | null;
            /** @description How recent its signs of life are. */
            health: components["schemas"]["Health"];
            /**
             * Format: int64
             * @description Milliseconds since its supervisor was heard, while it should be.
             */
            heartbeat_age_ms: number | null;
            /** @description Its name, made by the lab. */
            id: string;
            /** @description What sort of run it is. */
            kind: components["schemas"]["RunKind"];
            latest_eval: components["schemas"]["Evaluation"] | null;
            lines: components["schemas"]["LineCounts"] | null;
            /**
             * Format: double
             * @description Loss of the newest update.
             */
            loss: number | null;
            match_result: components["schemas"]["MatchResult"] | null;
            /**
             * Format: double
             * @description Mean length of the last 100 episodes.
             */
            mean_length: number | null;
            /**
             * Format: double
             * @description Mean return of the last 100 episodes.
             */
            mean_reward: number | null;
            /** @description For people: `Cart Pole, PPO, seed 42`. */
            name: string;
            /** @description The run whose policy is measured, where the run is its evaluation. */
            of_run: string | null;
            parent: components["schemas"]["Parent"] | null;
            /** @description Whether it is to be kept. */
            pinned: boolean;
            /** @description Checkpoints of it that are to be kept. */
            pinned_checkpoints: string[];
            /**
             * Format: double
             * @description How much of the run is done, 0 to 1.
             */
            progress: number;
            /**
             * Format: int64
             * @description Memory of the trainer.
             */
            rss_bytes: number | null;
            /**
             * Format: int64
             * @description The number that decides the whole run, unless a trainer of somebody else has never told.
             */
            seed?: number | null;
            /** @description When its trainer started. */
            started_at: string | null;
            /** @description Where it is in its life. */
            state: components["schemas"]["RunState"];
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number;
            /** @description When its newest steps were told of (RFC 3339). */
            stepped_at: string | null;
            /**
             * Format: double
             * @description Steps per second of the newest update.
             */
            steps_per_sec: number | null;
            /**
             * Format: int64
             * @description Episodes or games that an evaluation plays.
             */
            total_episodes: number | null;
            /**
             * Format: int64
             * @description Environment steps to train for.
             */
            total_timesteps: number;
            /** @description The name of its trainer, where it was started by one that `lab.json` has. */
            trainer_id: string | null;
            /** @description Settings that were changed while it trained, and what they are now. */
            tuned: {
                [key: string]: number;
            };
            wandb: components["schemas"]["WandbPage"] | null;
        };
        /** @description What a run costs, as an estimate: as if it had always used what was measured last. */
        RunCost: {
            /** @description The currency, as `lab.json` names it. */
            currency: string;
            /**
             * Format: double
             * @description An hour of what it uses; 0 once it has ended.
             */
            per_hour: number;
            /**
             * Format: double
             * @description What it has come to since it was started.
             */
            so_far: number;
        };
        /**
         * @description What sort of run it is.
         * @enum {string}
         */
        RunKind: "train" | "eval" | "human" | "external";
        /** @description One message of the live metrics of a run. */
        RunMessage: {
            /**
             * Format: int64
             * @description Episodes that have ended in all.
             */
            episode_count: number;
            /** @description The episodes that ended in those rows, at most 1,000. */
            episodes: components["schemas"]["EpisodeRow"][];
            /** @description Whether the reader's number was not ours, so that it must forget what it knew. */
            reset: boolean;
            /** @description Its newest metric rows, oldest first. */
            rows: components["schemas"]["MetricRow"][];
            /** @description How it is doing. */
            run: components["schemas"]["Run"];
            /** @enum {string} */
            type: "Snapshot";
        } | {
            /**
             * Format: int64
             * @description Episodes that have ended in all.
             */
            episode_count: number;
            /** @description The episodes that ended. */
            episodes: components["schemas"]["EpisodeRow"][];
            /**
             * Format: double
             * @description How much of the run is done, 0 to 1.
             */
            progress: number;
            /** @description Its new metric rows; none when only its status changed. */
            rows: components["schemas"]["MetricRow"][];
            /** @description Where it is in its life. */
            state: components["schemas"]["RunState"];
            /**
             * Format: int64
             * @description Environment steps so far.
             */
            step: number;
            /** @enum {string} */
            type: "Metrics";
        } | {
            /** @enum {string} */
            type: "Alive";
        };
        /** @description A page of runs. */
        RunPage: {
            /** @description Ask with this for the next page; none after the last. */
            next_cursor: string | null;
            /** @description The runs, newest first. */
            runs: components["schemas"]["Run"][];
        };
        /** @description What would be made. */
        RunPreview: {
            /** @description Other names of settings that were used, each with what it means. */
            aliases: {
                [key: string]: string;
            };
            /** @description What the client should know: that the id it gave is out of date, or that batches are uneven. */
            notice: string | null;
            /** @description The runs. */
            runs: components["schemas"]["PlannedRun"][];
        };
        /**
         * @description Where a run is in its life.
         * @enum {string}
         */
        RunState: "queued" | "starting" | "running" | "paused" | "stopping" | "succeeded" | "failed" | "terminated" | "lost";
        /** @description A picture: the part of the world to show, and what is in it from back to front. */
        Scene: {
            /** @description The shapes, from back to front. */
            shapes: components["schemas"]["Shape"][];
            /**
             * @description Left, bottom, right and top of what must be visible, in world units; y points up.
             *
             *     Shapes may reach beyond it, so that a picture of another aspect ratio has no bare margin.
             */
            view: number[];
        };
        /** @description A schema that can be had. */
        SchemaEntry: {
            /** @description Its address. */
            href: string;
            /**
             * @description By which it is asked for.
             * @example ppo:LunarLander-v3
             */
            name: string;
            /** @description What it describes, for people. */
            title: string;
        };
        /** @description The schemas that can be had. */
        SchemaList: {
            /** @description All of them. */
            schemas: components["schemas"]["SchemaEntry"][];
        };
        /** @description What a search has done. */
        SearchNumbers: {
            /**
             * Format: int64
             * @description Positions whose judgement was known.
             */
            cache_hits: number;
            /**
             * Format: int64
             * @description Walks down the tree, that to the position itself included.
             */
            descents: number;
            /**
             * Format: int64
             * @description Positions that the network judged.
             */
            evaluations: number;
            /**
             * Format: int64
             * @description Walks that ended where the score is proved.
             */
            proven: number;
            /**
             * Format: int32
             * @description The simulations that were asked for; fewer were made where the position was proved before.
             */
            simulations: number;
        };
        /** @description How a player did with one seed: an opening, or the start of an episode. */
        SeedScore: {
            /**
             * Format: int64
             * @description Games drawn.
             */
            draws: number;
            /**
             * Format: int64
             * @description Games lost.
             */
            losses: number;
            /**
             * Format: int64
             * @description Matches of the player that had it.
             */
            n_matches: number;
            /** @description Its place in that match, from 1. */
            number: number;
            /**
             * Format: int64
             * @description The seed of the opening; in an environment what the episode was reset with.
             */
            seed: number;
            /**
             * Format: int64
             * @description What it follows from, in the first match that had it.
             */
            seed_base: number;
            /**
             * Format: int64
             * @description Games won with it, whoever the others were.
             */
            wins: number;
        };
        /** @description How a player did seed by seed. */
        SeedScores: {
            /** @description Seeds of which it won as many as it lost. */
            even: number;
            /** @description Id of the game or environment. */
            game: string;
            /** @description Seeds of which it lost more. */
            lost: number;
            /** @description Seeds that it played in all. */
            n_seeds: number;
            /** @description Key of the player. */
            player: string;
            /** @description The seeds, in the order of their base and their place, as many as asked for. */
            seeds: components["schemas"]["SeedScore"][];
            /** @description Seeds of which it won more games than it lost. */
            won: number;
        };
        /** @description One metric over time. */
        Series: {
            /** @description Name of the metric. */
            key: string;
            /** @description The name for people. */
            label: string;
            /** @description Environment steps. */
            step: number[];
            /** @description Unix seconds. */
            t: number[];
            /** @description Values; none where one was not finite. */
            value: (number | null)[];
        };
        /** @description What `lab.json` in the data folder says, as far as it concerns who looks at the lab. */
        Settings: {
            /** @description When alerts fire. */
            alerts: components["schemas"]["AlertLimits"];
            /** @description Where other tools show what belongs to a run or a request. */
            links: components["schemas"]["LinkTemplates"];
            /** @description What the machine costs. */
            prices: components["schemas"]["Prices"];
            /** @description What is kept. */
            retention: components["schemas"]["RetentionLimits"];
        };
        /**
         * @description What is to be changed, by section and name. What is left out stays; null means no limit, or no
         *     link.
         */
        SettingsChange: {
            /** @description When alerts fire. */
            alerts?: Record<string, never>;
            /** @description Where other tools are. */
            links?: Record<string, never>;
            /** @description What the machine costs. */
            prices?: Record<string, never>;
            /** @description What is kept. */
            retention?: Record<string, never>;
        };
        /** @description One thing in a scene. All lengths are in world units. */
        Shape: {
            fill: components["schemas"]["Paint"] | null;
            /** @enum {string} */
            kind: "polygon";
            /** @description The corners, in order. */
            points: number[][];
            stroke: components["schemas"]["Paint"] | null;
            /**
             * Format: float
             * @description Width of the outline.
             */
            width: number;
        } | {
            /** @enum {string} */
            kind: "line";
            /** @description The points, in order. */
            points: number[][];
            /** @description Paint of the line. */
            stroke: components["schemas"]["Paint"];
            /**
             * Format: float
             * @description Width of the line.
             */
            width: number;
        } | {
            /** @description The middle. */
            center: number[];
            fill: components["schemas"]["Paint"] | null;
            /** @enum {string} */
            kind: "circle";
            /**
             * Format: float
             * @description Distance from the middle to the centre of the outline.
             */
            radius: number;
            stroke: components["schemas"]["Paint"] | null;
            /**
             * Format: float
             * @description Width of the outline.
             */
            width: number;
        } | {
            /** @description The middle of the text. */
            at: number[];
            /** @enum {string} */
            kind: "text";
            /** @description Paint of the letters. */
            paint: components["schemas"]["Paint"];
            /**
             * Format: float
             * @description Height of a line.
             */
            size: number;
            /** @description What it says. */
            text: string;
        };
        /**
         * @description A side.
         * @enum {string}
         */
        Side: "first" | "second" | "random";
        /** @description Where on the board an action is chosen. */
        Spot: {
            /** @description The action. */
            action: number;
            /** @description For people who cannot see the board. */
            label: string;
            /** @description The seats whose pieces lie there, the lowest first; none where there are none. */
            pieces: number[];
            /**
             * Format: float
             * @description Left edge in the scene's units.
             */
            x0: number;
            /**
             * Format: float
             * @description Right edge.
             */
            x1: number;
            /**
             * Format: float
             * @description Bottom edge.
             */
            y0: number;
            /**
             * Format: float
             * @description Top edge.
             */
            y1: number;
        };
        /** @description How much room things take. */
        Storage: {
            /**
             * Format: int64
             * @description Bytes of the disk.
             */
            disk_bytes: number;
            /**
             * Format: int64
             * @description Bytes that are free on the disk.
             */
            free_bytes: number;
            /**
             * Format: int64
             * @description The index.
             */
            index_bytes: number;
            /** @description What runs have made, by kind. */
            kinds: components["schemas"]["Kept"][];
            /** @description The knobs, as `lab.json` in the data folder has them. */
            limits: components["schemas"]["RetentionLimits"];
            /**
             * Format: int64
             * @description The lab's own records of runs: events, metrics, heartbeats.
             */
            records_bytes: number;
            /**
             * Format: int64
             * @description Runs that were counted.
             */
            runs: number;
            /**
             * Format: int64
             * @description Bytes of everything that the lab keeps.
             */
            total_bytes: number;
            /**
             * Format: int64
             * @description Runs in the trash.
             */
            trash_bytes: number;
        };
        /** @description How strong a network is with some simulations. */
        StrengthRating: components["schemas"]["PlayRating"] & {
            /**
             * Format: int32
             * @description The simulations of the strength; none for a network that cannot search.
             */
            simulations: number | null;
        };
        /** @description What an experiment would come to. */
        TemplatePreview: {
            /** @description Every setting. */
            config: Record<string, never>;
            /** @description The runs that would be made of it, with what differs from the defaults. */
            runs: components["schemas"]["PlannedRun"][];
            /** @description Experiments that have the same. */
            same_as: string[];
            /** @description Its SHA-256. */
            sha256: string;
        };
        /** @description Where TensorBoard shows a run. */
        TensorBoard: {
            /** @description An address on the machine of the lab, for a browser there. */
            url: string;
        };
        /** @description Who thinks. */
        ThoughtBy: {
            /** @description Its key, with the simulations. */
            id: string;
            /** @description For people. */
            name: string;
        };
        /** @description A move in somebody's thoughts. */
        ThoughtMove: {
            /** @description The action. */
            action: number;
            /** @description The action for people. */
            name: string;
        };
        /** @description What a network makes of a position of a game. */
        Thoughts: {
            /** @description What it makes of each legal action, ascending. */
            actions: components["schemas"]["ActionThought"][];
            /** @description Who thinks. */
            by: components["schemas"]["ThoughtBy"];
            chosen: components["schemas"]["ThoughtMove"] | null;
            /** @description The help that you took, in words. */
            help: string | null;
            /**
             * Format: int32
             * @description How many hints you were given in this game; while it goes on, thoughts count as one, once for
             *     each position.
             */
            hints: number;
            /** @description Whether the value is the truth: the search has proved it, or the game is over. */
            is_known: boolean;
            /** @description What it expects to be played from here on, as far as it has looked. */
            line: components["schemas"]["ThoughtMove"][];
            /**
             * Format: int32
             * @description The position that it is about: moves so far.
             */
            ply: number;
            /** @description What the search has done. */
            search: components["schemas"]["SearchNumbers"];
            /** @description Who must move there. */
            turn: components["schemas"]["Turn"];
            /**
             * Format: float
             * @description What the position is worth to you, −1 to 1; none where the network does not say.
             */
            value: number | null;
        };
        /** @description A ticket. */
        Ticket: {
            /**
             * Format: int64
             * @description Seconds until it is worth nothing.
             */
            expires_in: number;
            /** @description To be put into the address: `?ticket=...`. Good once. */
            ticket: string;
        };
        /** @description What has gone, or would. */
        Tidied: {
            /** @description Artifacts that go. */
            artifacts: components["schemas"]["Going"][];
            /** @description Whether nothing was removed. */
            dry_run: boolean;
            /** @description What could not be removed, in sentences. */
            failed: string[];
            /**
             * Format: int64
             * @description Bytes that are freed at once.
             */
            freed_bytes: number;
            /**
             * Format: int64
             * @description Bytes beyond `max_bytes` that nothing could be found for.
             */
            over_bytes: number;
            /** @description Runs that go to the trash. */
            runs: components["schemas"]["GoingRun"][];
        };
        /** @description Whether to remove, or only to say what would be. */
        TidyUp: {
            /** @description Only say what would go. */
            dry_run?: boolean;
        };
        /** @description A token, without its secret. */
        Token: {
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Who made it. */
            created_by: string;
            /** @description When it ends, if it does. */
            expires_at: string | null;
            /**
             * @description Its id, which is also the beginning of the secret.
             * @example t-1f2e3d4c
             */
            id: string;
            /** @description Whether it has ended. */
            is_expired: boolean;
            /** @description Who has it. */
            name: string;
            /** @description What they may do. */
            role: components["schemas"]["Role"];
        };
        /** @description The tokens of the lab, apart from the administrator's own in `data/token`. */
        TokenList: {
            /** @description The oldest first; at most 1000. */
            tokens: components["schemas"]["Token"][];
        };
        /** @description How a tournament stands. */
        TournamentDetail: {
            /**
             * @description The share of the points that each player (row) took from each other (column); none where
             *     they have not met.
             */
            cross_table: (number | null)[][];
            /** @description Who meets whom. */
            kind: components["schemas"]["TournamentKind"];
            /** @description How many pairings there will be. */
            n_pairings: number;
            /** @description The pairings that have ended. */
            pairings: components["schemas"]["TournamentPairing"][];
            /** @description The players, in the order in which they were named. */
            players: components["schemas"]["Player"][];
            /**
             * Format: int64
             * @description What the seeds follow from.
             */
            seed: number;
            /** @description Where the players stand, the best first. */
            standings: components["schemas"]["TournamentStanding"][];
        };
        /**
         * @description Who meets whom.
         * @enum {string}
         */
        TournamentKind: "round_robin" | "gauntlet";
        /** @description A pairing of a tournament, from the view of A. */
        TournamentPairing: {
            /** @description Place of player A among the players, from 0. */
            a: number;
            /** @description Place of player B. */
            b: number;
            difference: components["schemas"]["Difference"] | null;
            /**
             * Format: int32
             * @description Games drawn.
             */
            draws: number;
            /**
             * Format: double
             * @description Difference of strength in Elo; none when it has no bound.
             */
            elo: number | null;
            /**
             * Format: int32
             * @description Games lost.
             */
            losses: number;
            /**
             * Format: double
             * @description Share of the points.
             */
            score: number;
            /** @description The 95% interval of the score. */
            score_ci95: number[];
            /**
             * Format: int32
             * @description Games won.
             */
            wins: number;
        };
        /** @description Where a player of a tournament stands. */
        TournamentStanding: {
            /**
             * Format: int32
             * @description Games that it drew.
             */
            draws: number;
            /**
             * Format: int32
             * @description Games that it played.
             */
            games: number;
            /**
             * Format: int32
             * @description Games that it lost.
             */
            losses: number;
            /** @description Place of the player among the players, from 0. */
            player: number;
            /**
             * Format: double
             * @description Its points: a win is 1, a draw a half.
             */
            points: number;
            /**
             * Format: double
             * @description Its share of the points that it could have.
             */
            score: number;
            /**
             * Format: int32
             * @description Games that it won.
             */
            wins: number;
        };
        /** @description A trainer that can be started by its name. */
        Trainer: {
            /** @description What it can be told. */
            arguments: components["schemas"]["TrainerArgument"][];
            /** @description The environments that it can learn; the first unless another is asked for. */
            env_ids: string[];
            /** @description Its name in addresses. */
            id: string;
            /** @description Its name for people. */
            title: string;
        };
        /** @description Something that a trainer can be told. */
        TrainerArgument: {
            /** @description The words of a choice. */
            choices: string[];
            /** @description What it is unless something else is given; without one it is then left out. */
            default: unknown;
            /** @description For people. */
            help: string;
            /** @description The longest text. */
            max_length: number | null;
            /**
             * Format: double
             * @description The greatest number.
             */
            maximum: number | null;
            /**
             * Format: double
             * @description The least number.
             */
            minimum: number | null;
            /** @description Its name. */
            name: string;
            /** @description Whether it must be given. */
            required: boolean;
            /** @description What it takes. */
            type: components["schemas"]["ArgumentType"];
        };
        /** @description The trainers that can be started by name. */
        TrainerList: {
            /** @description In the order of the lab's file. */
            trainers: components["schemas"]["Trainer"][];
        };
        /** @description The runs in the trash. */
        Trash: {
            /** @description The last deleted first. */
            runs: components["schemas"]["TrashedRun"][];
        };
        /** @description A run in the trash. */
        TrashedRun: {
            /** @description When it was deleted (RFC 3339). */
            deleted_at: string;
            /** @description Its name. */
            id: string;
            /** @description Its name for people. */
            name: string;
            /** @description When it will be removed for good. */
            purge_at: string;
        };
        /** @description A TrueSkill rating. */
        TrueSkill: {
            /**
             * Format: double
             * @description What it is at least, almost surely: `mu - 3 sigma`.
             */
            exposed: number;
            /**
             * Format: double
             * @description The mean of what is believed.
             */
            mu: number;
            /**
             * Format: double
             * @description Its standard deviation.
             */
            sigma: number;
        };
        /** @description A setting to be changed. */
        Tune: {
            /**
             * @description The full path of the setting.
             * @example trainer.learning_rate
             */
            path: string;
            /**
             * Format: double
             * @description Its new value.
             * @example 0.0001
             */
            value: number;
        };
        /** @description A setting that a run was asked to change. */
        Tuned: components["schemas"]["Run"] & {
            /** @description What is changed after the present update. */
            change: components["schemas"]["TunedSetting"];
        };
        /** @description What a setting was, is to be, and may be. */
        TunedSetting: {
            /**
             * Format: double
             * @description The greatest.
             */
            maximum: number | null;
            /**
             * Format: double
             * @description The least that it may be while a run trains (or above it, for a learning rate); none where
             *     only the trainer knows.
             */
            minimum: number | null;
            /**
             * Format: double
             * @description What it is then.
             */
            new: number;
            /** @description What it is until then; null where a trainer that is not ours never said. */
            old: unknown;
            /** @description The full path of the setting. */
            path: string;
        };
        /**
         * @description Who must move.
         * @enum {string}
         */
        Turn: "you" | "opponent" | "over";
        /** @description One window of a run on a W&B server. */
        WandbIteration: components["schemas"]["AnalyticsIteration"] & {
            /** @description Whether a metric has more values in it than are asked for, so that its figures are of some. */
            sampled: boolean;
            /** @description How good the answer is. */
            source: components["schemas"]["WandbSourceState"];
        };
        /** @description Where a run is at a W&B server. */
        WandbPage: {
            /**
             * @description The server.
             * @example https://api.wandb.ai
             */
            base_url: string;
            /** @description Whose project it is in. */
            entity: string;
            /** @description The id of the run there. */
            id: string;
            /** @description The project. */
            project: string;
            /**
             * @description Its page for people.
             * @example https://wandb.ai/me/cartridge/runs/r-7f3k2m-4wq09d
             */
            url: string;
        };
        /** @description A run on a W&B server. */
        WandbRun: {
            /** @description When it was made (RFC 3339). */
            created_at: string;
            /** @description Id of the environment, where its configuration says so. */
            env_id: string | null;
            /** @description When it was last heard of (RFC 3339). */
            heartbeat_at: string | null;
            /** @description What people look at first. */
            kpis: components["schemas"]["Kpi"][];
            /** @description Its name for people. */
            name: string;
            /** @description Its id there. */
            run_id: string;
            /** @description As W&B says it: `running`, `finished`, `failed`, `crashed`, `killed`. */
            state: string;
            /**
             * Format: int64
             * @description Environment steps so far, or rows where it does not count steps.
             */
            step: number;
            /**
             * Format: int64
             * @description The newest window, which is its iteration; 0 before the first step.
             */
            window_id: number;
            /**
             * Format: int64
             * @description Environment steps of a window.
             */
            window_steps: number;
        };
        /** @description The newest runs of a project. */
        WandbRuns: {
            /** @description Newest first. */
            runs: components["schemas"]["WandbRun"][];
            /** @description How good the answer is. */
            source: components["schemas"]["WandbSourceState"];
        };
        /** @description How good an answer is. */
        WandbSourceState: {
            /**
             * Format: double
             * @description Seconds since the server answered this.
             */
            age_seconds: number;
            /**
             * @description The server that was asked.
             * @example https://api.wandb.ai
             */
            base_url: string;
            /** @description Whose project it is. */
            entity: string;
            /** @description The project. */
            project: string;
            /** @description Whether it should be newer, and is not because of `trouble`. */
            stale: boolean;
            trouble: components["schemas"]["WandbTrouble"] | null;
        };
        /** @description A run on a W&B server, and all that it has summed up. */
        WandbSummary: {
            /** @description What it was configured with. */
            config: Record<string, never>;
            /** @description The run. */
            run: components["schemas"]["WandbRun"];
            /** @description How good the answer is. */
            source: components["schemas"]["WandbSourceState"];
            /** @description The newest value of everything that it logs and that is a number. */
            summary: {
                [key: string]: number;
            };
        };
        /** @description What is wrong with a W&B server. */
        WandbTrouble: {
            /** @description `wandb_away`, `wandb_slow`, `wandb_refused`, `wandb_limited` or `wandb_malformed`. */
            code: string;
            /** @description In a sentence. */
            detail: string;
        };
        /** @description The windows of a run on a W&B server. */
        WandbWindows: components["schemas"]["AnalyticsWindows"] & {
            /** @description How good the answer is. */
            source: components["schemas"]["WandbSourceState"];
        };
        /**
         * @description What an X-ray tells of actions.
         * @enum {string}
         */
        XrayKind: "probabilities" | "values" | "gaussian";
        /** @description What a policy makes of the moment before an action. */
        XrayStep: {
            /**
             * @description `probabilities`: the probability of each action, 0 where it is illegal. `values`: the value
             *     of each, none where it is illegal. `gaussian`: the mean of each number, held within its
             *     bounds.
             */
            actions: (number | null)[];
            /** @description The best legal action, the first of equals; none for `gaussian`. */
            best: number | null;
            /** @description The deviation of each number; only `gaussian`. */
            deviations?: number[] | null;
            /**
             * Format: double
             * @description How undecided it is, in nats; none for `values`.
             */
            entropy: number | null;
            /**
             * @description Whether it is what a search found before that very move, in a game of self-play. Of a game
             *     that is `exact`, moves without it are those of the opening, which were drawn by chance.
             */
            searched: boolean;
            /**
             * Format: int64
             * @description Number of the action, from 1: what the policy saw is the moment `step - 1`.
             */
            step: number;
            /**
             * Format: double
             * @description The return to expect.
             */
            value: number | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_alerts: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: "firing" | "acknowledged" | "resolved";
                /** @description How many, at most 1000; 100 when left out. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acknowledge_alert: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the alert */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_analytics_runs: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsRuns"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsWindows"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_iterations: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsWindows"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_iteration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Number of the window, from 1 */
                iteration: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsIteration"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyticsSummary"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_audit: {
        parameters: {
            query?: {
                /** @description By whom. */
                actor?: string;
                /** @description What was done, such as `tune`. */
                action?: string;
                /** @description To which run, or whatever else has a name. */
                run?: string;
                /** @description Not before this time (RFC 3339, or Unix seconds). */
                from?: string;
                /** @description Not after this time. */
                to?: string;
                /** @description Lines before the one with this number. */
                before?: number;
                /** @description How many of the newest that fit, at most 10,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Audit"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_audit: {
        parameters: {
            query?: {
                /** @description In which form. */
                format?: "csv" | "json";
                /** @description By whom. */
                actor?: string;
                /** @description What was done, such as `tune`. */
                action?: string;
                /** @description To which run, or whatever else has a name. */
                run?: string;
                /** @description Not before this time (RFC 3339, or Unix seconds). */
                from?: string;
                /** @description Not after this time. */
                to?: string;
                /** @description Lines before the one with this number. */
                before?: number;
                /** @description How many of the newest that fit, at most 100,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/json": components["schemas"]["AuditExport"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verify_audit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCheck"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_cluster: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cluster"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_environments: {
        parameters: {
            query?: {
                /** @description Whether games are listed too, after the environments: whatever can be trained on. */
                games?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnvironmentList"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_environment: {
        parameters: {
            query?: {
                /** @description Chooses the episode. */
                seed?: number;
            };
            header?: never;
            path: {
                /** @description Id of the environment */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_evaluations: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
                /** @description Where the page begins: `next_cursor` of the page before. */
                cursor?: string;
                /**
                 * @description Only in these states, separated by commas.
                 * @example queued,running
                 */
                state?: string;
                /**
                 * @description What is evaluated: a policy, which is meant without it, two players in a `match`, several in
                 *     a `tournament`, or `all` of these.
                 */
                kind?: "policy" | "match" | "tournament" | "all";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_match: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMatch"];
            };
        };
        responses: {
            /** @description The match */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_contest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run that it is */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contest"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_experiments: {
        parameters: {
            query?: {
                /** @description Only with this in their name, id, environment or hash; case does not matter. */
                q?: string;
                /** @description Whether those that were put away are wanted, and not the others. */
                archived?: boolean;
                /** @description How many, at most 500. */
                limit?: number;
                /** @description Where the page begins: `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_experiment: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTemplate"];
            };
        };
        responses: {
            /** @description What it would come to, with `dry_run` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplatePreview"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experiment"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_experiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the experiment */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentDetail"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archive_experiment: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the experiment */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experiment"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    clone_experiment: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the experiment */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloneTemplate"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experiment"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unarchive_experiment: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the experiment */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Experiment"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_games: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GameList"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_group: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the group */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_lab: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabFacts"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_leaderboard: {
        parameters: {
            query: {
                /**
                 * @description Id of the environment.
                 * @example LunarLander-v3
                 */
                env: string;
                /** @description How many rows, at most 1,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Leaderboard"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_links: {
        parameters: {
            query?: {
                /** @description A run. */
                run_id?: string;
                /** @description A request, by its `X-Request-Id`. */
                request_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Links"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Logged in by cookie */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Logged out */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_matches: {
        parameters: {
            query?: {
                /** @description Only those at this game or environment. */
                game?: string;
                /** @description Only those of the player with this key. */
                player?: string;
                /** @description How many, at most 500. */
                limit?: number;
                /** @description Where the page begins: `next` of the page before. */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatchPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_models: {
        parameters: {
            query?: {
                /** @description Only those of this environment or game. */
                env?: string;
                /** @description Whether those that were put away are wanted, and not the others. */
                archived?: boolean;
                /** @description How many, at most 500. */
                limit?: number;
                /** @description Where the page begins: `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_model: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewModel"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_model: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the model */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_model: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the model */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alias_model: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the model */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAlias"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unarchive_model: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the model */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelDetail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_model_policy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the model */
                name: string;
                /** @description Number of the version, or an alias */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description A part of it */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description It is as the client knows it */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description It has no such range */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_model_weights: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the model */
                name: string;
                /** @description Number of the version, or an alias */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description A part of it */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description It is as the client knows it */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description It has no such range */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_plays: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
                /** @description Whether to list the games of all players, which is for admins. */
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlayList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    new_play: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlay"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Play"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanSessionList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    new_session: {
        parameters: {
            query?: never;
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewHumanSession"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanSession"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the session */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanSession"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_actions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the session */
                id: string;
                /** @description Number of the episode, from 1 */
                episode: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanActions"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    play_live: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the session */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is a WebSocket from here on */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_opponents: {
        parameters: {
            query: {
                /** @description Id of the game. */
                game: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpponentList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_play: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Play"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    give_hint: {
        parameters: {
            query?: {
                /** @description Moves so far, as you know them: with it, a request for a position that is gone is refused. */
                ply?: number;
            };
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hint"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    make_move: {
        parameters: {
            query?: never;
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMove"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Play"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_position: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the game */
                id: string;
                /** @description How many moves, from 0 */
                ply: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Position"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    analyse_position: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the game */
                id: string;
                /** @description How many moves, from 0 */
                ply: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Analysis"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    think_back: {
        parameters: {
            query?: {
                /** @description Simulations of the search, at most 10,000; without it those of the opponent, or else 200. */
                simulations?: number;
            };
            header?: never;
            path: {
                /** @description Name of the game */
                id: string;
                /** @description How many moves, from 0 */
                ply: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thoughts"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    review: {
        parameters: {
            query?: {
                /** @description Simulations of the search in each position, at most 400; without it 50. */
                simulations?: number;
            };
            header?: never;
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Review"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    think: {
        parameters: {
            query?: {
                /** @description How many moves, from 0; without it the position that there is now. */
                ply?: number;
                /** @description Simulations of the search, at most 10,000; without it those of the opponent, or else 200. */
                simulations?: number;
            };
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thoughts"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    take_back: {
        parameters: {
            query?: {
                /** @description Moves so far, as you know them: with it, a request for a position that is gone is refused. */
                ply?: number;
            };
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path: {
                /** @description Name of the game */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Play"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_ratings: {
        parameters: {
            query: {
                /**
                 * @description Id of the game or environment.
                 * @example connect4
                 */
                game: string;
                /** @description Key of the player whose rating is 0; `builtin:random` without it. */
                anchor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ratings"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_rating_history: {
        parameters: {
            query: {
                /**
                 * @description Id of the game or environment.
                 * @example connect4
                 */
                game: string;
                /** @description Only the matches of the player with this key. */
                player?: string;
                /** @description Key of the player whose rating is 0 as soon as games connect it; `builtin:random` without it. */
                anchor?: string;
                /** @description How many of the newest matches, at most 1,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RatingHistory"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_seed_scores: {
        parameters: {
            query: {
                /**
                 * @description Id of the game or environment.
                 * @example connect4
                 */
                game: string;
                /**
                 * @description Key of the player.
                 * @example builtin:mcts:100
                 */
                player: string;
                /** @description How many seeds, at most 1,000. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeedScores"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tidy_up: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TidyUp"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tidied"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description How many, at most 500. */
                limit?: number;
                /** @description Where the page begins: `next_cursor` of the page before. */
                cursor?: string;
                /** @description Whether those that were put away are wanted, and not the others. */
                archived?: boolean;
                /**
                 * @description Only of these kinds, separated by commas; without it, all but the games of people.
                 * @example train,eval
                 */
                kind?: string;
                /**
                 * @description Only in these states, separated by commas.
                 * @example running,lost
                 */
                state?: string;
                /** @description Only of this environment or game. */
                env?: string;
                /** @description Only with this in their name, id or environment; case does not matter. */
                q?: string;
                /** @description Only of this experiment. */
                experiment?: string;
                /** @description Only of those that were made together. */
                group?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    start_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRun"];
            };
        };
        responses: {
            /** @description What would be made, with `dry_run` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPreview"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedRun"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archive_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_artifacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Artifacts"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_artifact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Name of the artifact in the run */
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description A part of it */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description It is as the client knows it */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description It has no such range */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    checkpoint_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_config: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_episodes: {
        parameters: {
            query?: {
                /** @description The newest so many, oldest first, at most 10,000; 100 when nothing is asked for. */
                tail?: number;
                /** @description What they are sorted by: their number when left out. */
                sort?: "number" | "return" | "length" | "time";
                /** @description Which end comes first: the largest, except for numbers, when left out. */
                order?: "asc" | "desc";
                /** @description Only those that were reset with this number; `total` counts these. */
                seed?: number;
                /** @description How many of the list come before. */
                offset?: number;
                /** @description How many, at most 10,000; 100 when left out. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_episode: {
        parameters: {
            query?: {
                /** @description The first step; 0 is the start. */
                from?: number;
                /**
                 * @description The step after the last. At most 10,000 steps are given at once, or 1,000 with scenes; so
                 *     many when left out.
                 */
                to?: number;
                /** @description Whether each moment has its picture. */
                scenes?: boolean;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Number of the episode in the run, from 1 */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeReplay"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description What was recorded is damaged, or cannot be stepped again */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    draw_episode: {
        parameters: {
            query?: {
                /** @description At most so many, 2 to 4,000; 1,000 when left out. */
                points?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Number of the episode in the run, from 1 */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeCurve"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description What was recorded is damaged, or cannot be stepped again */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    film_episode: {
        parameters: {
            query?: {
                /** @description The first step; 0 is the start. */
                from?: number;
                /** @description The step after the last; all when left out. A film ends after 120 seconds in any case. */
                to?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Number of the episode in the run, from 1 */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "video/mp4": number[];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such episode or step, or its trainer is not ours, so that there are no pictures */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description What was recorded is damaged, or does not replay to what it was */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    xray_episode: {
        parameters: {
            query?: {
                /** @description The first action; 1 is the first of the episode. */
                from?: number;
                /** @description The action after the last. At most 1,000 are told at once; so many when left out. */
                to?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
                /** @description Number of the episode in the run, from 1 */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeXray"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no policy to ask, or what was recorded is damaged */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_latest_evaluation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationJob"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_latest_video: {
        parameters: {
            query?: never;
            header?: {
                /** @description A part of it, such as `bytes=0-1023` */
                range?: string | null;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "video/mp4": number[];
                };
            };
            /** @description The part of it that was asked for */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "video/mp4": number[];
                };
            };
            /** @description It is the one that the client has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description It has no such range */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    evaluate_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEvaluation"];
            };
        };
        responses: {
            /** @description The evaluation */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_evaluations_of_run: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationList"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_events: {
        parameters: {
            query?: {
                /** @description How many, at most 10,000. */
                limit?: number;
                /** @description The last number that was received, for a stream. */
                last_event_id?: string;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventLog"];
                    "text/event-stream": components["schemas"]["EventMessage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    fork_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Fork"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watch_run: {
        parameters: {
            query?: {
                /** @description What the pictures are made of. */
                format?: "scene" | "jpeg";
                /**
                 * @description Pictures a second, 1 to 30, or 0 to begin with a pause; 12 of a training and 15 of an
                 *     evaluation when left out.
                 */
                fps?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is a WebSocket from here on */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_insights: {
        parameters: {
            query?: {
                /** @description Whether `text` is for people who do not know the words of the trade. */
                plain?: boolean;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Insights"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_log: {
        parameters: {
            query?: {
                /** @description How many, at most 10,000. */
                tail?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogTail"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_metrics: {
        parameters: {
            query?: {
                /**
                 * @description Names, separated by commas; all when left out. CleanRL's and Stable-Baselines3's are
                 *     understood, and answered with their sign and scale. `charts/episodic_return` and
                 *     `charts/episodic_length` have a point for every episode, at the step of its end.
                 */
                keys?: string;
                /** @description About how many points of each, at most 10,000. Spikes survive. */
                points?: number;
                /** @description Only from this step on. */
                from?: number;
                /** @description Only up to this step. */
                to?: number;
                /**
                 * @description Instead of series, the newest rows, at most 10,000, as JSON lines, oldest first; single
                 *     episodes that were asked for are lines of their own.
                 */
                tail?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Metrics"];
                    "application/x-ndjson": components["schemas"]["MetricRow"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pause_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    pin_run: {
        parameters: {
            query?: {
                /** @description A checkpoint, by folder or steps; without it the run itself. */
                checkpoint?: string;
            };
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_run: {
        parameters: {
            query?: {
                /** @description Chooses the episode. */
                seed?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_report: {
        parameters: {
            query?: {
                /** @description `json`, `text` or `html`. */
                format?: "json" | "text" | "html";
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "text/plain": string;
                    "text/html": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_resources: {
        parameters: {
            query?: {
                /**
                 * @description How many rows at most, up to 10,000. Each is of equally many measurements and has the
                 *     greatest of them, so spikes survive.
                 */
                points?: number;
                /** @description Only from this moment on, in Unix seconds. */
                from?: number;
                /** @description Only up to this moment. */
                to?: number;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Resources"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    restore_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resume_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    start_queued_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stop_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream_run: {
        parameters: {
            query?: {
                /** @description The last number that was received, for clients that cannot send `Last-Event-ID`. */
                last_event_id?: string;
            };
            header?: never;
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["RunMessage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    open_tensorboard: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TensorBoard"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    terminate_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tune_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Tune"];
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tuned"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unarchive_run: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    unpin_run: {
        parameters: {
            query?: {
                /** @description A checkpoint, by folder or steps; without it the run itself. */
                checkpoint?: string;
            };
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the run */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_schemas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchemaList"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_schema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the schema
                 * @example ppo:LunarLander-v3
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_settings: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_storage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Storage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream_lab: {
        parameters: {
            query?: {
                /** @description Only these runs, separated by commas; all when left out. */
                runs?: string;
                /** @description The last number that was received, for clients that cannot send `Last-Event-ID`. */
                last_event_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["FeedMessage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    make_ticket: {
        parameters: {
            query?: never;
            header?: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTicket"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    make_token: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MadeToken"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Id of the token */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_tournament: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTournament"];
            };
        };
        responses: {
            /** @description The tournament */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_trainers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainerList"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `lab.json` is wrong */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    start_trainer: {
        parameters: {
            query?: never;
            header: {
                /** @description New for each action, and the same when it is asked for again: the first answer is given again for a day. 409 while the first is under way, 422 with another request. */
                "idempotency-key": string;
            };
            path: {
                /** @description Name of the trainer */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTrainerRun"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_trash: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trash"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_wandb_runs: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WandbRuns"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The lab was not told which project, or has no key */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The W&B server failed, and nothing is known from before */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The W&B server was asked enough */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The W&B server took too long */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_wandb_history: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run at W&B */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WandbWindows"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_wandb_iterations: {
        parameters: {
            query?: {
                /** @description How many, at most 100. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run at W&B */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WandbWindows"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_wandb_iteration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run at W&B */
                id: string;
                /** @description Number of the window, from 1 */
                iteration: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WandbIteration"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    show_wandb_summary: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run at W&B */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WandbSummary"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream_socket: {
        parameters: {
            query?: {
                /** @description Only these runs, separated by commas; all when left out. */
                runs?: string;
                /** @description The last number that was received, for clients that cannot send `Last-Event-ID`. */
                last_event_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is a WebSocket from here on */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Healthz"];
                };
            };
        };
    };
    follow_login_link: {
        parameters: {
            query?: {
                /** @description The code in the URL that the lab printed. */
                code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the app, logged in, or back to the login page with the reason */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    expose_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readyz"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readyz"];
                };
            };
        };
    };
}
