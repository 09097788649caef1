"""What makes the data that the package ships. Never imported by the package.

    python -m tests.packaged_data.demo_stories
    python -m tests.packaged_data.surface_model --scores hanna_metric_scores_llm.csv --stories hanna_llm_stories.csv \\
        --mans-roc mans_roc.json --mans-wp mans_wp.json
"""
